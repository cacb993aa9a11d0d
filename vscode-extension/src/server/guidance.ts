// SPDX-License-Identifier: Apache-2.0

/** Guide users without a Python that can run the server. */

import { execFile } from 'node:child_process';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { PVSC_EXTENSION_ID } from '@vscode/python-extension';
import * as vscode from 'vscode';
import { privateInterpreter } from './interpreters.ts';
import type { Misfit } from './probe.ts';
import type { Server } from './server.ts';

const run = promisify(execFile);
/** The packages of a private environment; the rest is bundled. */
const PACKAGES = ['onnx>=1.17', 'orjson>=3.10', 'ml_dtypes>=0.5'];
const PIP_MINUTES = 10;

/** Report that no interpreter works, with the reason and possible actions. */
export async function offerHelp(misfits: Misfit[], context: vscode.ExtensionContext, server: Server): Promise<void> {
  const found = misfits.map(({ command, reason }) => `${path.basename(command)}: ${reason}`).join('; ') || 'none was found';
  const actions: Record<string, () => unknown> = {
    'Set Up a Private Environment': () => setUp(context, server),
    ...(vscode.extensions.getExtension(PVSC_EXTENSION_ID)
      ? { 'Select Interpreter': () => vscode.commands.executeCommand('python.setInterpreter') }
      : {}),
    'Open Settings': () => vscode.commands.executeCommand('workbench.action.openSettings', 'onnxtext.interpreter'),
    'Show Log': () => { server.log.show(); },
  };
  const message =
    'onnxtext needs Python 3.10 or newer with the packages onnx and orjson for all but colors and snippets. ' + `Tried: ${found}.`;
  const action = await vscode.window.showWarningMessage(message, ...Object.keys(actions));
  if (action !== undefined) await actions[action]?.();
}

/** Make a private environment and use it, after asking before any download. */
export async function setUp(context: vscode.ExtensionContext, server: Server): Promise<void> {
  const question = `Make a Python environment in ${context.globalStorageUri.fsPath} and install ${PACKAGES.join(', ')} into it with pip?`;
  if ((await vscode.window.showInformationMessage(question, { modal: true }, 'Install')) !== 'Install') return;
  const own = privateInterpreter(context.globalStorageUri);
  const folder = path.dirname(path.dirname(own));
  try {
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: 'Setting up Python for onnxtext' }, async () => {
      await vscode.workspace.fs.createDirectory(context.globalStorageUri);
      const options = { cwd: context.globalStorageUri.fsPath, timeout: PIP_MINUTES * 60_000, windowsHide: true };
      await run(process.platform === 'win32' ? 'python' : 'python3', ['-m', 'venv', '--clear', folder], options);
      await run(own, ['-m', 'pip', 'install', '--disable-pip-version-check', '--only-binary', ':all:', ...PACKAGES], options);
    });
  } catch (error) {
    server.log.error(String(error));
    const shown = await vscode.window.showErrorMessage(`The environment could not be set up: ${lastLine(error)}`, 'Show Log');
    if (shown !== undefined) server.log.show();
    return;
  }
  await server.restart();
}

function lastLine(error: unknown): string {
  const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
  return stderr.trim().split('\n').at(-1) || message;
}
