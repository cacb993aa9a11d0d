# SPDX-License-Identifier: Apache-2.0
"""Error recovery: report syntax errors, and find the offset at which parsing continues."""
