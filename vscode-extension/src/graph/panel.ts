// SPDX-License-Identifier: Apache-2.0

/** The graph view: a panel beside a text that follows its changes and its cursor. */

import * as path from 'node:path';
import * as vscode from 'vscode';
import { binaryOf, SCHEME, textOf } from '../binary/uris.ts';
import { graph as graphRequest, isOutdated } from '../server/protocol.ts';
import type { Server } from '../server/server.ts';
import { LANGUAGE, mostNodes, viewOptions } from '../settings.ts';
import { nodeAt, nodeById } from './find.ts';
import { html } from './html.ts';
import { Layouter, Superseded } from './layout.ts';
import type { FromView, GraphDocument, Range, ToView, ViewOptions } from './protocol.ts';

const VIEW_TYPE = 'onnxtext.graph';
/** Milliseconds without a change before the graph is drawn again. */
const DELAY = 300;

export function registerGraphView(context: vscode.ExtensionContext, server: Server): void {
  const panels = new Map<string, GraphPanel>();
  const open = (document: vscode.TextDocument, panel: vscode.WebviewPanel) => {
    const key = document.uri.toString();
    const made = new GraphPanel(context, server, document, panel);
    panels.set(key, made);
    panel.onDidDispose(() => panels.delete(key));
  };
  context.subscriptions.push(
    vscode.commands.registerCommand('onnxtext.showGraph', async (uri?: vscode.Uri) => {
      const document = await documentOf(uri);
      if (!document) {
        void vscode.window.showErrorMessage('Open a model as text first.');
        return undefined;
      }
      const present = panels.get(document.uri.toString());
      if (present) present.reveal();
      else open(document, newPanel(context, document));
      return panels.get(document.uri.toString())?.drawn;
    }),
    vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, {
      async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: { uri?: string } | undefined) {
        const document = state?.uri === undefined ? undefined : await documentOf(vscode.Uri.parse(state.uri));
        if (document) open(document, panel);
        else panel.dispose();
      },
    }),
  );
}

async function documentOf(uri: vscode.Uri | undefined): Promise<vscode.TextDocument | undefined> {
  if (uri) {
    const text = uri.scheme === 'file' && uri.path.endsWith('.onnx') ? textOf(uri) : uri;
    return await vscode.workspace.openTextDocument(text);
  }
  const active = vscode.window.activeTextEditor?.document;
  if (active?.languageId === LANGUAGE) return active;
  return vscode.window.visibleTextEditors.find(({ document }) => document.languageId === LANGUAGE)?.document;
}

function newPanel(context: vscode.ExtensionContext, document: vscode.TextDocument): vscode.WebviewPanel {
  const title = `Graph: ${nameOf(document)}`;
  return vscode.window.createWebviewPanel(VIEW_TYPE, title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, {
    enableScripts: true,
    localResourceRoots: ['dist', 'media'].map((folder) => vscode.Uri.joinPath(context.extensionUri, folder)),
    retainContextWhenHidden: true,
  });
}

function nameOf(document: vscode.TextDocument): string {
  return path.posix.basename(document.uri.scheme === SCHEME ? binaryOf(document.uri).path : document.uri.path);
}

/** The last drawing, for measurements. */
export interface Drawn {
  nodes: number;
  edges: number;
  milliseconds: { request: number; layout: number; drawing: number };
}

class GraphPanel {
  readonly #server: Server;
  readonly #document: vscode.TextDocument;
  readonly #panel: vscode.WebviewPanel;
  readonly #layouter: Layouter;
  readonly #disposables: vscode.Disposable[] = [];
  #options: ViewOptions = viewOptions();
  #model: GraphDocument | undefined;
  /** The last laid-out model, without places in the text. */
  #laidOut = '';
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #again = false;
  /** The selection that the view made in the text. */
  #own: string | undefined;
  #times = { request: 0, layout: 0, drawing: 0 };
  #ready: () => void = () => undefined;
  readonly #isReady = new Promise<void>((resolve) => { this.#ready = resolve; });
  #isDrawn: (drawn: Drawn | undefined) => void = () => undefined;
  /** The first drawing; undefined if drawing failed. */
  readonly drawn = new Promise<Drawn | undefined>((resolve) => { this.#isDrawn = resolve; });

  constructor(context: vscode.ExtensionContext, server: Server, document: vscode.TextDocument, panel: vscode.WebviewPanel) {
    this.#server = server;
    this.#document = document;
    this.#panel = panel;
    this.#layouter = new Layouter(context.asAbsolutePath('dist/worker.mjs'));
    const mine = (uri: vscode.Uri) => uri.toString() === document.uri.toString();
    this.#disposables.push(
      panel.webview.onDidReceiveMessage((message: FromView) => { this.#take(message); }),
      panel.onDidDispose(() => { this.#dispose(); }),
      vscode.workspace.onDidChangeTextDocument((event) => { if (mine(event.document.uri)) this.#schedule(); }),
      // The types arrive with the findings.
      vscode.languages.onDidChangeDiagnostics(({ uris }) => { if (uris.some(mine)) this.#schedule(); }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        if (mine(textEditor.document.uri) && selections[0]) this.#follow(selections[0].active);
      }),
      server.onDidChange(({ state }) => { if (state === 'running') this.#schedule(); }),
    );
    panel.webview.html = html(panel.webview, context.extensionUri, document.uri.toString());
    void this.#draw();
  }

  reveal(): void {
    this.#panel.reveal(undefined, true);
  }

  #post(message: ToView): void {
    void this.#panel.webview.postMessage(message);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#draw(), DELAY);
  }

  /** Draw the newest text. Changes wait until the drawing is shown. */
  async #draw(): Promise<void> {
    this.#again = true;
    if (this.#busy) return;
    this.#busy = true;
    await this.#isReady;
    while (this.#again) {
      this.#again = false;
      await this.#drawOnce();
    }
    this.#busy = false;
  }

  async #drawOnce(): Promise<void> {
    try {
      const start = performance.now();
      const model = await this.#server.request(graphRequest, { uri: this.#document.uri.toString() });
      this.#times.request = performance.now() - start;
      if (!model) throw new Error('The language server does not know this text.');
      this.#model = model;
      const shape = JSON.stringify([this.#options, model.graphs], (key, value: unknown) => (key === 'range' ? undefined : value));
      if (shape === this.#laidOut) return;
      await this.#layOut(model);
      this.#laidOut = shape;
    } catch (error) {
      if (error instanceof Superseded || isOutdated(error)) return; // the change draws it again
      this.#post({ type: 'notice', text: error instanceof Error ? error.message : String(error) });
      this.#isDrawn(undefined);
    }
  }

  async #layOut(model: GraphDocument): Promise<void> {
    const start = performance.now();
    this.#post({ type: 'busy', text: 'Laying out…' });
    const drawing = await this.#layouter.layout({ model, options: this.#options, mostNodes: mostNodes() });
    this.#times.layout = performance.now() - start;
    this.#post({ type: 'drawing', drawing, title: nameOf(this.#document), options: this.#options });
    if (drawing.nodes.length === 0) this.#post({ type: 'notice', text: 'There are no nodes in this text.' });
    else if (model.truncated || drawing.omitted > 0) {
      this.#post({ type: 'notice', text: `Only the first ${drawing.nodes.length} nodes are drawn (setting onnxtext.graph.maxNodes).` });
    }
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document === this.#document);
    if (editor) this.#follow(editor.selection.active);
  }

  /** Select the node at the cursor. */
  #follow(position: vscode.Position): void {
    if (!this.#model) return;
    const node = nodeAt(this.#model, position);
    // If the view set the cursor, keep its selection: the line may have other nodes.
    const own = this.#own !== undefined && node?.range.start.line === nodeById(this.#model, this.#own)?.range.start.line;
    if (!own) this.#own = undefined;
    this.#post({ type: 'select', id: this.#own ?? node?.id ?? null, scroll: !own });
  }

  #take(message: FromView): void {
    switch (message.type) {
      case 'ready':
        this.#ready();
        break;
      case 'drawn':
        this.#times.drawing = message.milliseconds;
        this.#isDrawn({ nodes: message.nodes, edges: message.edges, milliseconds: this.#times });
        break;
      case 'options':
        this.#options = message.options;
        this.#layouter.stop(); // Its result is no longer needed.
        void this.#draw();
        break;
      case 'reveal':
        void this.#reveal(message.id, message.focus);
        break;
    }
  }

  /** Move the cursor to a node. */
  async #reveal(id: string, focus: boolean): Promise<void> {
    const node = this.#model && nodeById(this.#model, id);
    if (!node) return;
    this.#own = id;
    const { start } = rangeOf(node.range);
    const shown = vscode.window.visibleTextEditors.find(({ document }) => document === this.#document);
    const editor = await vscode.window.showTextDocument(this.#document, {
      viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One, preserveFocus: !focus, selection: new vscode.Range(start, start),
    });
    editor.revealRange(rangeOf(node.range), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  #dispose(): void {
    clearTimeout(this.#timer);
    this.#again = false;
    this.#layouter.stop();
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

function rangeOf({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}
