# SPDX-License-Identifier: Apache-2.0
"""Walk over syntax trees and access their slots: the native counterpart of `onnxtext.ast`."""
