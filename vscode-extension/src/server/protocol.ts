// SPDX-License-Identifier: Apache-2.0

/**
 * The requests of `onnxtext lsp` that are not in the Language Server Protocol. Ranges are LSP
 * ranges in UTF-16 units, as VS Code counts.
 */

import { LSPErrorCodes, RequestType, ResponseError } from 'vscode-languageclient/node';
import type { GraphDocument } from '../graph/protocol.ts';

export interface FromBinaryResult {
  /** The model as text; the bytes of large weights are left out, so that it can be read to its end. */
  text: string;
  /** Of the binary, in bytes. */
  size: number;
  /** SHA-256 of the binary, in hexadecimal digits. */
  digest: string;
}

export interface ToBinaryParams {
  text: string;
  /** URI of the binary that the weights are taken from. */
  original: string;
  /** URI of the file to write; the original without it. */
  target?: string;
  /** If the original is no longer this, nothing is written. */
  digest?: string;
}

export interface ToBinaryResult {
  /** Bytes. */
  written: number;
  digest: string;
}

export interface ConvertParams {
  uri: string;
  target: string;
  direction: 'to-binary' | 'from-binary';
  /** Overwrite a target that holds something else. */
  force?: boolean;
}

export const fromBinary = new RequestType<{ uri: string }, FromBinaryResult, unknown>('onnxtext/fromBinary');
export const toBinary = new RequestType<ToBinaryParams, ToBinaryResult, unknown>('onnxtext/toBinary');
export const convert = new RequestType<ConvertParams, { target: string }, unknown>('onnxtext/convert');
export const verify = new RequestType<{ uri: string }, { ok: boolean; report: string }, unknown>('onnxtext/verify');
export const graph = new RequestType<{ uri: string }, GraphDocument | null, unknown>('onnxtext/graph');

/** Whether the server dropped a request because the text has changed since. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified;
}
