# SPDX-License-Identifier: Apache-2.0
"""Error recovery: report syntax errors, and find the place at which parsing continues."""
