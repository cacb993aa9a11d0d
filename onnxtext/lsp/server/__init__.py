# SPDX-License-Identifier: Apache-2.0
"""The protocol: requests, documents, and the process that checks."""
