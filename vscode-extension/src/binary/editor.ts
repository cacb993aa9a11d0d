// SPDX-License-Identifier: Apache-2.0

/**
 * The editor for `.onnx` files: it opens the text of the model in its place, or reports why it
 * cannot.
 */

import * as vscode from 'vscode';
import { LANGUAGE } from '../settings.ts';
import { tooLarge } from './files.ts';
import { SCHEME, textOf } from './uris.ts';

export const VIEW_TYPE = 'onnxtext.binary';

class BinaryEditor implements vscode.CustomReadonlyEditorProvider {
  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    panel.webview.options = { enableScripts: false, localResourceRoots: [], enableCommandUris: ['onnxtext.showLog', 'workbench.action.openSettings'] };
    try {
      if (document.uri.scheme !== 'file') throw new Error('Only models on disk can be shown as text.');
      const { size } = await vscode.workspace.fs.stat(document.uri);
      const problem = tooLarge(document.uri, size);
      if (problem !== undefined) throw new Error(problem);
      panel.webview.html = page('Reading the model…');
      await showText(document.uri, { viewColumn: panel.viewColumn ?? vscode.ViewColumn.Active, preview: false });
      panel.dispose();
    } catch (error) {
      panel.webview.html = page(error instanceof Error ? error.message : String(error), [
        ['Settings', `command:workbench.action.openSettings?${encodeURIComponent(JSON.stringify(['onnxtext']))}`],
        ['Log', 'command:onnxtext.showLog'],
      ]);
    }
  }
}

/** Open a binary model as text. */
export async function showText(binary: vscode.Uri, options: vscode.TextDocumentShowOptions = {}): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(textOf(binary));
  return await vscode.window.showTextDocument(await withLanguage(document), options);
}

/** Set the language, which the file name does not determine. */
async function withLanguage(document: vscode.TextDocument): Promise<vscode.TextDocument> {
  if (document.languageId === LANGUAGE) return document;
  return await vscode.languages.setTextDocumentLanguage(document, LANGUAGE);
}

function page(message: string, links: [text: string, target: string][] = []): string {
  const escaped = message.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0).toString()};`);
  const anchors = links.map(([text, target]) => `<a href="${target}">${text}</a>`).join(' · ');
  return `<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'"></head>
    <body><p>${escaped}</p><p>${anchors}</p></body></html>`;
}

export function registerBinaryEditor(): vscode.Disposable {
  // Texts restored from the last session.
  const opened = (document: vscode.TextDocument) => {
    if (document.uri.scheme === SCHEME) void withLanguage(document);
  };
  vscode.workspace.textDocuments.forEach(opened);
  return vscode.Disposable.from(
    vscode.window.registerCustomEditorProvider(VIEW_TYPE, new BinaryEditor(), { supportsMultipleEditorsPerDocument: true }),
    vscode.workspace.onDidOpenTextDocument(opened),
  );
}
