# SPDX-License-Identifier: Apache-2.0
"""Define the rules of the checker; each module has a family of related rules.

In each module, `check` yields the findings, and `RULES` lists the rules (`context.registry`).

The pages of the rules (`diagnostics/pages`) give the reasons for them, with examples.
"""
