// SPDX-License-Identifier: Apache-2.0

/** The item in the status bar: the state and Python of the language server. */

import * as vscode from 'vscode';
import type { Server, Status } from './server/server.ts';
import { LANGUAGE } from './settings.ts';

export function showStatus(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('onnxtext.status', vscode.StatusBarAlignment.Right, 100);
  item.name = 'onnxtext';
  item.command = 'onnxtext.menu';
  const update = () => {
    const { icon, tooltip, warning } = words(server.status);
    item.text = `${icon} onnxtext`;
    item.tooltip = tooltip;
    item.backgroundColor = warning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    if (vscode.window.activeTextEditor?.document.languageId === LANGUAGE) item.show();
    else item.hide();
  };
  update();
  return vscode.Disposable.from(item, server.onDidChange(update), vscode.window.onDidChangeActiveTextEditor(update));
}

function words(status: Status): { icon: string; tooltip: string; warning: boolean } {
  switch (status.state) {
    case 'starting':
      return { icon: '$(loading~spin)', tooltip: 'The language server is starting.', warning: false };
    case 'running': {
      const { plan, version } = status;
      const where = plan.mode === 'bundled' ? 'bundled with the extension' : 'of the environment';
      return { icon: '$(check)', tooltip: `onnxtext ${version}, ${where}\n${plan.executable} (Python ${plan.version.join('.')})`, warning: false };
    }
    case 'untrusted':
      return { icon: '$(shield)', tooltip: 'Restricted mode: only colors, folding and snippets.', warning: false };
    case 'failed':
      return { icon: '$(warning)', tooltip: status.misfits.map((each) => `${each.command}: ${each.reason}`).join('\n'), warning: true };
    case 'stopped':
      return { icon: '$(circle-slash)', tooltip: 'The language server is not running.', warning: true };
  }
}
