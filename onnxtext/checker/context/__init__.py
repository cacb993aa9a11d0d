# SPDX-License-Identifier: Apache-2.0
"""What rules and inference see of a model: scopes, fields, signatures, findings."""
