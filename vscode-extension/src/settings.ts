// SPDX-License-Identifier: Apache-2.0

/** The settings of package.json, typed. */

import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ViewOptions } from './graph/protocol.ts';

export const SECTION = 'onnxtext';
export const LANGUAGE = 'onnxtxt';

export interface ServerSettings {
  /** The path of the preferred Python interpreter; empty for none. */
  interpreter: string;
  source: 'auto' | 'environment' | 'bundled';
  arguments: string[];
}

/** The defaults; package.json declares the same. */
interface Settings {
  interpreter: string;
  'server.source': ServerSettings['source'];
  'server.arguments': string[];
  'inlayHints.enabled': boolean;
  'binary.maxSize': number;
  'binary.editable': boolean;
  'graph.direction': ViewOptions['direction'];
  'graph.constants': boolean;
  'graph.maxNodes': number;
}

function get<K extends keyof Settings>(name: K): Settings[K] {
  const value = vscode.workspace.getConfiguration(SECTION).get<Settings[K]>(name);
  if (value === undefined) throw new Error(`package.json does not declare the setting ${SECTION}.${name}`);
  return value;
}

export function serverSettings(): ServerSettings {
  return { interpreter: expanded(get('interpreter')), source: get('server.source'), arguments: get('server.arguments') };
}

export function inlayHintsWanted(): boolean {
  return get('inlayHints.enabled');
}

/** The largest binary that is opened as text, in bytes. */
export function largestBinary(): number {
  return get('binary.maxSize') * 1024 * 1024;
}

export function binariesEditable(): boolean {
  return get('binary.editable');
}

export function viewOptions(): ViewOptions {
  return { direction: get('graph.direction'), constants: get('graph.constants') };
}

export function mostNodes(): number {
  return get('graph.maxNodes');
}

/** Expand `~` and `${workspaceFolder}` in a path. */
function expanded(setting: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const text = folder === undefined ? setting : setting.replaceAll('${workspaceFolder}', folder);
  return text.startsWith('~') ? path.join(os.homedir(), text.slice(1)) : text;
}
