// SPDX-License-Identifier: Apache-2.0

/**
 * A file system of texts: reading `onnx:/models/a.onnx` gives the text of that binary model,
 * and writing it changes the model. The weights stay in the binary.
 */

import * as path from 'node:path';
import * as vscode from 'vscode';
import { fromBinary, toBinary } from '../server/protocol.ts';
import type { Server } from '../server/server.ts';
import { binariesEditable, largestBinary } from '../settings.ts';
import { binaryOf } from './uris.ts';

/** VS Code passes no larger text to extensions. */
const LARGEST_TEXT = 50 * 1024 * 1024;

export class BinaryFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #server: Server;
  /** Texts that are editable regardless of the setting. */
  readonly #editable = new Set<string>();
  /** For each text, the digest of the binary that was last read or written. */
  readonly #digests = new Map<string, string>();

  constructor(server: Server) {
    this.#server = server;
  }

  isEditable(text: vscode.Uri): boolean {
    return binariesEditable() || this.#editable.has(text.toString());
  }

  /** Allow editing a text and saving it as binary. */
  makeEditable(text: vscode.Uri): void {
    this.#editable.add(text.toString());
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri: text }]);
  }

  /** Handle a change of the setting that makes all texts editable. */
  refresh(): void {
    this.#changed.fire(vscode.workspace.textDocuments
      .filter(({ uri }) => this.#digests.has(uri.toString()))
      .map(({ uri }) => ({ type: vscode.FileChangeType.Changed, uri })));
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const binary = await vscode.workspace.fs.stat(binaryOf(uri));
    return this.isEditable(uri) ? binary : { ...binary, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const binary = binaryOf(uri);
    const { size } = await vscode.workspace.fs.stat(binary);
    const problem = tooLarge(uri, size);
    if (problem !== undefined) throw vscode.FileSystemError.Unavailable(problem);
    const { text, digest } = await this.#server.request(fromBinary, { uri: binary.toString() });
    const bytes = Buffer.from(text, 'utf8');
    if (bytes.length > LARGEST_TEXT) {
      throw vscode.FileSystemError.Unavailable(
        `The text of ${nameOf(uri)} has ${megabytes(bytes.length)}; the limit of VS Code for extensions is ${megabytes(LARGEST_TEXT)}. ${onTheCommandLine(uri)}`);
    }
    this.#digests.set(uri.toString(), digest);
    return bytes;
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    if (!this.isEditable(uri)) throw vscode.FileSystemError.NoPermissions(uri);
    const known = this.#digests.get(uri.toString());
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    const { digest } = await this.#server.request(toBinary, {
      text, original: binaryOf(uri).toString(), ...(known === undefined ? {} : { digest: known }),
    });
    this.#digests.set(uri.toString(), digest);
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  watch(uri: vscode.Uri): vscode.Disposable {
    const folder = vscode.Uri.joinPath(binaryOf(uri), '..');
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, nameOf(uri)));
    const fire = (type: vscode.FileChangeType) => () => { this.#changed.fire([{ type, uri }]); };
    watcher.onDidChange(fire(vscode.FileChangeType.Changed));
    watcher.onDidCreate(fire(vscode.FileChangeType.Created));
    watcher.onDidDelete(fire(vscode.FileChangeType.Deleted));
    return watcher;
  }

  // Files are created and deleted in the file system of the binaries.
  readDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.FileNotADirectory(uri);
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** Why a binary of this size is not opened; undefined if it is. */
export function tooLarge(uri: vscode.Uri, bytes: number): string | undefined {
  const limit = largestBinary();
  if (bytes <= limit) return undefined;
  return `${nameOf(uri)} has ${megabytes(bytes)}; binaries of up to ${megabytes(limit)} are opened as text, `
    + `as the whole model is read into memory (setting onnxtext.binary.maxSize). ${onTheCommandLine(uri)}`;
}

function onTheCommandLine(uri: vscode.Uri): string {
  return `Run \`onnxtext from-binary ${nameOf(uri)}\`, which has no such limit.`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MiB`;
}

function nameOf(uri: vscode.Uri): string {
  return path.posix.basename(uri.path);
}
