# SPDX-License-Identifier: Apache-2.0
"""Define the rules of the checker; each module has a family of related rules.

`check` yields the findings of a family, and `RULES` lists its rules (`context.registry`).

The pages of the rules (`diagnostics/pages`) give the reasons for them, with examples.
"""
