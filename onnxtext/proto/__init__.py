# SPDX-License-Identifier: Apache-2.0
"""Convert the AST to protobuf bytes (`encode`, "lowering") and back (`decode`, "lifting")."""
