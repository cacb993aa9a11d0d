# SPDX-License-Identifier: Apache-2.0
"""What each grammar rule makes: the syntax tree."""
