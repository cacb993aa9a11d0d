# SPDX-License-Identifier: Apache-2.0
"""The rules that convert a node by one version of its operator; `table` lists them by operator."""
