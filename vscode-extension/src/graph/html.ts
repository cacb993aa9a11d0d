// SPDX-License-Identifier: Apache-2.0

/** The page of the graph view, which loads only two files of the extension. */

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

export function html(webview: vscode.Webview, extension: vscode.Uri, document: string): string {
  const nonce = randomBytes(16).toString('base64');
  const file = (...parts: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(extension, ...parts)).toString();
  const attribute = document.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <meta http-equiv="Content-Security-Policy"
    content="default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'">
  <link rel="stylesheet" href="${file('media', 'view.css')}">
</head>
<body data-document="${attribute}">
  <script nonce="${nonce}" src="${file('dist', 'view.js')}"></script>
</body>
</html>`;
}
