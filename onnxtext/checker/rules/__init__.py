# SPDX-License-Identifier: Apache-2.0
"""Define the rules of the checker; each module has a family of related rules.

`check` yields the findings of a family, and `RULES` lists its rules (`context.registry`).

In the docstrings of the modules, `What` is what the rules require of a model, `Why` the reason, and
`Fix` how to repair a model that breaks them.
"""
