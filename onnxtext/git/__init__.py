# SPDX-License-Identifier: Apache-2.0
"""Models in git: what git runs (filter, textconv, drivers), and how it is told to."""
