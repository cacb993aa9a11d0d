# SPDX-License-Identifier: Apache-2.0
"""Prepare a model for rules and inference: build scopes, apply decorators, look up schemas."""
