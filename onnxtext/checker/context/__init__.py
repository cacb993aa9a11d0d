# SPDX-License-Identifier: Apache-2.0
"""Provide the view of a model that rules and inference share: scopes, fields, signatures."""
