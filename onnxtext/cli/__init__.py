# SPDX-License-Identifier: Apache-2.0
"""The command `onnxtext`. Nothing else imports this package."""
