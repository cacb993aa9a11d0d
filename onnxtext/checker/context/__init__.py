# SPDX-License-Identifier: Apache-2.0
"""Prepare a model for rules and inference: scopes, fields with decorators applied, signatures."""
