# SPDX-License-Identifier: Apache-2.0
"""Between the AST and protobuf bytes: `lower` writes them, `lift` reads them."""
