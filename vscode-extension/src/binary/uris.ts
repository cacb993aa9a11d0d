// SPDX-License-Identifier: Apache-2.0

/** `onnx:/models/a.onnx` is the text of `file:///models/a.onnx`. */

import type { Uri } from 'vscode';

export const SCHEME = 'onnx';

export function textOf(binary: Uri): Uri {
  return binary.with({ scheme: SCHEME });
}

export function binaryOf(text: Uri): Uri {
  return text.with({ scheme: 'file' });
}
