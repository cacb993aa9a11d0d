# SPDX-License-Identifier: Apache-2.0
"""The rules, one or a close family a module; each has a `FAMILY`."""
