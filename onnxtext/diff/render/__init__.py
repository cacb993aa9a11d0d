# SPDX-License-Identifier: Apache-2.0
"""How a diff is shown; one renderer a module."""
