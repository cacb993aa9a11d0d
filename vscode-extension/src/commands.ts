// SPDX-License-Identifier: Apache-2.0

/** The commands, except those of the graph view. */

import * as path from 'node:path';
import * as vscode from 'vscode';
import { showText } from './binary/editor.ts';
import type { BinaryFiles } from './binary/files.ts';
import { binaryOf, SCHEME } from './binary/uris.ts';
import { setUp } from './server/guidance.ts';
import { convert, verify } from './server/protocol.ts';
import type { Server } from './server/server.ts';

export function registerCommands(context: vscode.ExtensionContext, server: Server, files: BinaryFiles): void {
  const command = (name: string, run: (uri?: vscode.Uri) => unknown) => {
    context.subscriptions.push(vscode.commands.registerCommand(`onnxtext.${name}`, async (uri?: vscode.Uri) => {
      try {
        return await run(uri ?? activeUri());
      } catch (error) {
        void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
        return undefined;
      }
    }));
  };
  command('restart', () => server.restart());
  command('showLog', () => { server.log.show(); });
  command('menu', menu);
  command('setUpEnvironment', () => setUp(context, server));
  command('toBinary', (uri) => convertFile(server, uri, 'to-binary'));
  command('fromBinary', (uri) => convertFile(server, uri, 'from-binary'));
  command('verify', (uri) => verifyFile(server, uri));
  command('openAsText', async (uri) => { await showText(required(uri)); });
  command('makeEditable', (uri) => { files.makeEditable(required(uri)); });
}

function activeUri(): vscode.Uri | undefined {
  const { activeTextEditor, tabGroups } = vscode.window;
  const input = tabGroups.activeTabGroup.activeTab?.input;
  return activeTextEditor?.document.uri ?? (input instanceof vscode.TabInputCustom ? input.uri : undefined);
}

function required(uri: vscode.Uri | undefined): vscode.Uri {
  if (!uri) throw new Error('Open or select a model first.');
  return uri;
}

/** Return the file of a model, the binary if its text is open; save changes first. */
async function onDisk(uri: vscode.Uri | undefined): Promise<vscode.Uri> {
  const model = required(uri);
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === model.toString());
  if (open?.isUntitled === true) throw new Error('Save the text first: a binary model is written beside it.');
  if (open?.isDirty === true && !(await open.save())) throw new Error(`${path.posix.basename(model.path)} could not be saved.`);
  return model.scheme === SCHEME ? binaryOf(model) : model;
}

async function convertFile(server: Server, uri: vscode.Uri | undefined, direction: 'to-binary' | 'from-binary'): Promise<void> {
  const source = await onDisk(uri);
  const isText = /\.onnx(txt|text)$/.test(source.path);
  const isBinary = source.path.endsWith('.onnx');
  if (direction === 'to-binary' ? isBinary : isText) {
    throw new Error(`${path.posix.basename(source.path)} is a ${isText ? 'text' : 'binary model'} already.`);
  }
  const stem = isText || isBinary ? source.path.replace(/\.[^.]*$/, '') : source.path;
  const target = source.with({ path: stem + (direction === 'to-binary' ? '.onnx' : '.onnxtxt') });
  const name = path.posix.basename(target.path);
  const force = await exists(target);
  if (force) {
    const answer = await vscode.window.showWarningMessage(`Replace ${name}?`, { modal: true }, 'Replace');
    if (answer !== 'Replace') return;
  }
  const params = { uri: source.toString(), target: target.toString(), direction, force };
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: `Writing ${name}` },
    () => server.request(convert, params));
  void vscode.window.showInformationMessage(`Wrote ${name}.`, 'Open').then((answer) => {
    if (answer === 'Open') void (direction === 'to-binary' ? showText(target) : vscode.window.showTextDocument(target));
  });
}

async function verifyFile(server: Server, uri: vscode.Uri | undefined): Promise<boolean> {
  const model = await onDisk(uri);
  const name = path.posix.basename(model.path);
  const { ok, report } = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: `Verifying ${name}` },
    () => server.request(verify, { uri: model.toString() }));
  server.log.info(`verify ${model.fsPath}\n${report}`);
  const shown = ok
    ? vscode.window.showInformationMessage(`${name}: its text and its binary are the same model, byte for byte.`, 'Show Report')
    : vscode.window.showErrorMessage(`${name} does not survive the round trip unchanged.`, 'Show Report');
  void shown.then((answer) => { if (answer !== undefined) server.log.show(); });
  return ok;
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

/** Open the menu of the status bar item. */
async function menu(): Promise<void> {
  const items = [
    { label: '$(debug-restart) Restart the Language Server', command: 'onnxtext.restart' },
    { label: '$(output) Show the Log', command: 'onnxtext.showLog' },
    { label: '$(gear) Settings', command: 'workbench.action.openSettings', argument: 'onnxtext' },
    { label: '$(type-hierarchy) Show as Graph', command: 'onnxtext.showGraph' },
    { label: '$(verified) Verify', command: 'onnxtext.verify' },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: 'onnxtext' });
  if (chosen) await vscode.commands.executeCommand(chosen.command, ...('argument' in chosen ? [chosen.argument] : []));
}
