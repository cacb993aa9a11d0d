# SPDX-License-Identifier: Apache-2.0
"""Error recovery: diagnostics, and where parsing continues."""
