// SPDX-License-Identifier: Apache-2.0

/**
 * The requests of `onnxtext lsp` that are not in the Language Server Protocol. Ranges are LSP
 * ranges in UTF-16 units, as VS Code counts.
 */

import { LSPErrorCodes, RequestType, ResponseError } from 'vscode-languageclient/node';
import type { Details, GraphDocument, Place, Position } from '../graph/protocol.ts';
import type { GraphRequest } from '../graph/session.ts';

export interface FromBinaryResult {
  /** The model as text, without the bytes of large weights. */
  text: string;
  /** The size of the binary, in bytes. */
  size: number;
  /** The SHA-256 of the binary, in hexadecimal. */
  digest: string;
}

export interface ToBinaryParams {
  text: string;
  /** The URI of the binary that supplies the weights. */
  original: string;
  /** The URI of the file to write; by default the original. */
  target?: string;
  /** The expected digest of the original; if it differs, nothing is written. */
  digest?: string;
}

export interface ToBinaryResult {
  /** The size in bytes. */
  written: number;
  digest: string;
}

export interface ConvertParams {
  uri: string;
  target: string;
  direction: 'to-binary' | 'from-binary';
  /** Overwrite a target with other content. */
  force?: boolean;
}

export const fromBinary = new RequestType<{ uri: string }, FromBinaryResult, unknown>('onnxtext/fromBinary');
export const toBinary = new RequestType<ToBinaryParams, ToBinaryResult, unknown>('onnxtext/toBinary');
export const convert = new RequestType<ConvertParams, { target: string }, unknown>('onnxtext/convert');
export const verify = new RequestType<{ uri: string }, { ok: boolean; report: string }, unknown>('onnxtext/verify');
export const graph = new RequestType<{ uri: string } & GraphRequest, GraphDocument | null, unknown>('onnxtext/graph');
export const graphPlace = new RequestType<{ uri: string; position?: Position; id?: string }, Place | null, unknown>('onnxtext/graphPlace');
export const graphNode = new RequestType<{ uri: string; id: string }, Details | null, unknown>('onnxtext/graphNode');
export const graphFind = new RequestType<{ uri: string; words: string }, Place[], unknown>('onnxtext/graphFind');

/** Whether the server dropped a request because the text has changed since. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified;
}
