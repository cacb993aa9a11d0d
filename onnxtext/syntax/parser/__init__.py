# SPDX-License-Identifier: Apache-2.0
"""The LALR(1) loop."""
