# SPDX-License-Identifier: Apache-2.0
"""Define the rules of the checker; each module has one `FAMILY` of related rules.

In the docstrings of the modules, `What` is what the rules require of a model, `Why` the reason, and
`Fix` how to repair a model that breaks them.
"""
