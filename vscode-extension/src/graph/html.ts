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
  <header>
    <input id="search" type="search" placeholder="Find a node" aria-label="Find a node" spellcheck="false">
    <span id="matches" aria-live="polite"></span>
    <span id="spring"></span>
    <label title="Draw constants of the graph as nodes"><input id="initializers" type="checkbox"> Constants</label>
    <button id="direction" title="Turn the drawing">⤵</button>
    <button id="out" title="Smaller (-)" aria-label="Smaller">−</button>
    <button id="in" title="Larger (+)" aria-label="Larger">+</button>
    <button id="fit" title="Show everything (0)">Fit</button>
  </header>
  <svg id="picture" tabindex="0" role="application" aria-label="Graph of the model: arrow keys follow the edges, Enter goes to the text"></svg>
  <p id="notice" role="status" hidden></p>
  <p id="selection" aria-live="polite"></p>
  <script nonce="${nonce}" src="${file('dist', 'view.js')}"></script>
</body>
</html>`;
}
