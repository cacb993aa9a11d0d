# SPDX-License-Identifier: Apache-2.0
"""Find contradictions between symbolic dimensions."""
