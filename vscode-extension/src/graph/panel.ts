// SPDX-License-Identifier: Apache-2.0

/** The graph view: a panel beside a text that follows its changes and its cursor. */

import * as path from 'node:path';
import * as vscode from 'vscode';
import { binaryOf, SCHEME, textOf } from '../binary/uris.ts';
import { graph as graphRequest, graphCompare, graphFind, graphNode, graphPlace, isOutdated } from '../server/protocol.ts';
import type { Server } from '../server/server.ts';
import { LANGUAGE, mostNodes, viewOptions } from '../settings.ts';
import { html } from './html.ts';
import { Layouter, Superseded } from './layout.ts';
import type { FromView, Range, ToView } from './protocol.ts';
import { type GraphSource, Session } from './session.ts';

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
    vscode.commands.registerCommand('onnxtext.compareGraph', async (uri?: vscode.Uri, against?: string) => {
      const document = await documentOf(uri);
      if (!document) {
        void vscode.window.showErrorMessage('Open a model as text first.');
        return undefined;
      }
      const chosen = against ?? await askForVersion(document);
      if (chosen === undefined) return undefined;
      await vscode.commands.executeCommand('onnxtext.showGraph', document.uri);
      return await panels.get(document.uri.toString())?.compare(chosen);
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

/** Ask for a version to compare with: a URI, `git:REVISION`, or an empty string for none. */
async function askForVersion(document: vscode.TextDocument): Promise<string | undefined> {
  const [head, revision, file, none] = ['The last commit (HEAD)', 'Another revision…', 'Another file…', 'Nothing'];
  const chosen = await vscode.window.showQuickPick([head, revision, file, none] as string[], { title: `Compare the graph of ${nameOf(document)} with` });
  switch (chosen) {
    case head:
      return 'git:HEAD';
    case revision: {
      const name = await vscode.window.showInputBox({ title: 'Compare with the revision', value: 'HEAD~1' });
      return name ? `git:${name}` : undefined;
    }
    case file: {
      const [found] = await vscode.window.showOpenDialog({ title: 'Compare with', filters: { 'ONNX models': ['onnxtxt', 'onnxtext', 'onnx'] } }) ?? [];
      return found?.with({ scheme: 'file' }).toString();
    }
    case none:
      return '';
    default:
      return undefined;
  }
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
  readonly #session: Session;
  readonly #disposables: vscode.Disposable[] = [];
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #again = false;
  /** The line and id of the node that the view made the cursor go to. */
  #own: { line: number; id: string } | undefined;
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
    this.#layouter.start();
    this.#session = new Session({
      source: sourceOf(server, document.uri.toString()),
      layout: (task) => this.#layouter.layout(task),
      post: (message) => { void this.#isReady.then(() => panel.webview.postMessage(message)); },
      title: () => nameOf(document),
      mostNodes,
      limit: 'setting onnxtext.graph.maxNodes',
      cursor: () => this.#editor()?.selection.active,
    }, viewOptions());
    const mine = (uri: vscode.Uri) => uri.toString() === document.uri.toString();
    this.#disposables.push(
      panel.webview.onDidReceiveMessage((message: FromView) => { void this.#take(message); }),
      panel.onDidDispose(() => { this.#dispose(); }),
      vscode.workspace.onDidChangeTextDocument((event) => { if (mine(event.document.uri)) this.#schedule(); }),
      // The types arrive with the findings.
      vscode.languages.onDidChangeDiagnostics(({ uris }) => { if (uris.some(mine)) this.#schedule(); }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        if (mine(textEditor.document.uri) && selections[0]) void this.#try(this.#follow(selections[0].active));
      }),
      server.onDidChange(({ state }) => { if (state === 'running') this.#schedule(); }),
    );
    panel.webview.html = html(panel.webview, context.extensionUri, document.uri.toString());
    void this.#draw();
  }

  reveal(): void {
    this.#panel.reveal(undefined, true);
  }

  /** Draw the differences from another version; return its name. */
  async compare(against: string): Promise<string | null | undefined> {
    const uri = this.#document.uri.toString();
    try {
      const answer = await this.#server.request(graphCompare, against === '' ? { uri } : { uri, against });
      await this.#draw();
      return answer.against;
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #editor(): vscode.TextEditor | undefined {
    return vscode.window.visibleTextEditors.find(({ document }) => document === this.#document);
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
    while (this.#again) {
      this.#again = false;
      await this.#try(this.#drawOnce());
    }
    this.#busy = false;
  }

  async #drawOnce(): Promise<void> {
    await this.#session.draw();
    const editor = this.#editor();
    if (editor) await this.#follow(editor.selection.active, false);
  }

  /** Show why something failed, unless it is only outdated. */
  async #try(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (error instanceof Superseded || isOutdated(error)) return; // the change draws it again
      const notice: ToView = { type: 'notice', text: error instanceof Error ? error.message : String(error) };
      void this.#isReady.then(() => this.#panel.webview.postMessage(notice));
      this.#isDrawn(undefined);
    }
  }

  /** Select the node at the cursor. */
  async #follow(position: vscode.Position, moved = true): Promise<void> {
    // If the view moved the cursor, keep its selection: the line may have other nodes.
    if (this.#own?.line === position.line) return;
    this.#own = undefined;
    await this.#session.follow({ line: position.line, character: position.character }, moved);
  }

  async #take(message: FromView): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.#ready();
        break;
      case 'drawn':
        this.#isDrawn({ nodes: message.nodes, edges: message.edges, milliseconds: { ...this.#session.times, drawing: message.milliseconds } });
        break;
      case 'compare':
        await vscode.commands.executeCommand('onnxtext.compareGraph', this.#document.uri);
        break;
      case 'reveal':
        await this.#reveal(message.id, message.focus);
        break;
      case 'revealAt':
        this.#own = undefined;
        await this.#goTo({ start: message.at, end: message.at }, false);
        break;
      default:
        await this.#try(this.#session.take(message));
    }
  }

  /** Move the cursor to a node. */
  async #reveal(id: string, focus: boolean): Promise<void> {
    const range = this.#session.rangeOf(id);
    if (!range) return;
    this.#own = { line: range.start.line, id };
    this.#session.keep();
    await this.#goTo(range, focus);
  }

  async #goTo(range: Range, focus: boolean): Promise<void> {
    const { start } = rangeOf(range);
    const editor = await vscode.window.showTextDocument(this.#document, {
      viewColumn: this.#editor()?.viewColumn ?? vscode.ViewColumn.One, preserveFocus: !focus, selection: new vscode.Range(start, start),
    });
    editor.revealRange(rangeOf(range), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  #dispose(): void {
    clearTimeout(this.#timer);
    this.#again = false;
    this.#layouter.stop();
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

function sourceOf(server: Server, uri: string): GraphSource {
  return {
    graph: (wanted) => server.request(graphRequest, { uri, ...wanted }),
    place: (wanted) => server.request(graphPlace, { uri, ...wanted }),
    details: (id) => server.request(graphNode, { uri, id }),
    find: (words) => server.request(graphFind, { uri, words }),
  };
}

function rangeOf({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}
