// SPDX-License-Identifier: Apache-2.0

/** Find candidate Python interpreters: setting, Python extension, private environment, PATH. */

import * as fs from 'node:fs';
import * as path from 'node:path';
import { PVSC_EXTENSION_ID, PythonExtension } from '@vscode/python-extension';
import * as vscode from 'vscode';
import { serverSettings } from '../settings.ts';

const ON_PATH = process.platform === 'win32' ? ['python', 'py'] : ['python3', 'python'];

/** The candidates in the order they are tried, and how many of them the user chose. */
export interface Candidates {
  commands: string[];
  chosen: number;
}

export async function candidates(storage: vscode.Uri): Promise<Candidates> {
  const { interpreter } = serverSettings();
  if (interpreter) return { commands: [interpreter], chosen: 1 };
  const active = await activeInterpreter();
  const chosen = active === undefined ? [] : [active];
  const own = privateInterpreter(storage);
  const commands = [...chosen, ...(fs.existsSync(own) ? [own] : []), ...ON_PATH];
  return { commands: [...new Set(commands)], chosen: chosen.length };
}

/** The interpreter of the private environment. */
export function privateInterpreter(storage: vscode.Uri): string {
  const folder = path.join(storage.fsPath, 'environment');
  return process.platform === 'win32' ? path.join(folder, 'Scripts', 'python.exe') : path.join(folder, 'bin', 'python');
}

/** The interpreter that is selected in the Python extension, if that is installed. */
async function activeInterpreter(): Promise<string | undefined> {
  const python = await pythonExtension();
  if (!python) return undefined;
  const active = python.environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
  const resolved = await python.environments.resolveEnvironment(active);
  return resolved?.executable.uri?.fsPath;
}

/** Call `callback` when another interpreter is selected in the Python extension. */
export async function onDidSelect(callback: () => void): Promise<vscode.Disposable> {
  const python = await pythonExtension();
  return python?.environments.onDidChangeActiveEnvironmentPath(callback) ?? new vscode.Disposable(() => undefined);
}

async function pythonExtension(): Promise<PythonExtension | undefined> {
  if (!vscode.extensions.getExtension(PVSC_EXTENSION_ID)) return undefined;
  try {
    return await PythonExtension.api();
  } catch {
    return undefined; // The Python extension reports its own failure.
  }
}
