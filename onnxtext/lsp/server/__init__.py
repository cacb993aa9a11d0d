# SPDX-License-Identifier: Apache-2.0
"""Serve the protocol: messages, requests, documents, and the checking process."""
