// SPDX-License-Identifier: Apache-2.0

/** Activate and deactivate the extension. */

import * as vscode from 'vscode';
import { registerBinaryEditor } from './binary/editor.ts';
import { BinaryFiles } from './binary/files.ts';
import { SCHEME } from './binary/uris.ts';
import { registerCommands } from './commands.ts';
import { registerGraphView } from './graph/panel.ts';
import { onDidSelect } from './server/interpreters.ts';
import { Server, type Status } from './server/server.ts';
import { SECTION } from './settings.ts';
import { showStatus } from './status.ts';

const RESTARTING = ['interpreter', 'server.source', 'server.arguments'].map((name) => `${SECTION}.${name}`);

let server: Server | undefined;

/** The API for other extensions and for the tests. */
export interface Api {
  /** The state of the language server: its Python, or why it does not run. */
  status: () => Status;
}

export function activate(context: vscode.ExtensionContext): Api {
  const started = new Server(context);
  server = started;
  const files = new BinaryFiles(started);
  context.subscriptions.push(
    started,
    files,
    showStatus(started),
    vscode.workspace.registerFileSystemProvider(SCHEME, files, { isCaseSensitive: process.platform === 'linux' }),
    registerBinaryEditor(),
    vscode.workspace.onDidGrantWorkspaceTrust(() => started.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (RESTARTING.some((name) => event.affectsConfiguration(name))) void started.restart();
      if (event.affectsConfiguration(`${SECTION}.binary.editable`)) files.refresh();
    }),
  );
  registerCommands(context, started, files);
  registerGraphView(context, started);
  void started.restart();
  void onDidSelect(() => void started.restart()).then((selection) => context.subscriptions.push(selection));
  return { status: () => started.status };
}

export async function deactivate(): Promise<void> {
  await server?.shutdown();
}
