// SPDX-License-Identifier: Apache-2.0

/**
 * The page of `onnxtext view`: a text and its graph, in step. The graph is that of the editor; the
 * data in the page takes the place of the language server.
 */

import type { FromView, ToView } from '../graph/protocol.ts';
import { Session } from '../graph/session.ts';
import { startView } from '../webview/app.ts';
import { html } from '../webview/svg.ts';
import type { PageData } from './data.ts';
import { PageLayouter, Superseded } from './layout.ts';
import { button, changeList, head, splitter } from './parts.ts';
import { PageSource } from './source.ts';
import { TextView } from './text.ts';
import { unpacked } from './unpack.ts';

const MAX_NODES = 5000;
/** A search waits for so many milliseconds without a key. */
const DELAY = 120;

class Page {
  readonly #data: PageData;
  readonly #text: TextView;
  readonly #source: PageSource;
  readonly #session: Session;
  readonly #body = html('div', { class: 'panes' });
  readonly #graph = html('section', { class: 'graph-pane', 'aria-label': 'Graph' });
  readonly #status = html('span', { class: 'words', 'aria-live': 'polite' });
  /** The removed nodes by their line in the old text. */
  readonly #removed = new Map<number, string>();
  #post: (message: ToView) => void = () => undefined;
  #finding = -1;
  #refreshHistory: () => void = () => undefined;

  constructor(data: PageData, layoutScript: Promise<string>) {
    this.#data = data;
    this.#source = new PageSource(data.graph);
    for (const { items } of data.graph.document.groups) {
      for (const { id, range } of items) if (isRemoved(id)) this.#removed.set(range.start.line, id);
    }
    const layouter = new PageLayouter(layoutScript);
    this.#session = new Session({
      source: this.#source,
      layout: (task) => layouter.layout(task),
      post: (message) => { this.#post(message); },
      title: () => data.title,
      mostNodes: () => MAX_NODES,
      cursor: () => undefined,
    }, { direction: 'down', constants: true });
    this.#text = new TextView(data, {
      moved: (row, column) => { void this.#moved(row, column); },
      marked: (words) => {
        this.#status.textContent = words;
        this.#refreshHistory();
      },
    });
  }

  /** Show the text; the graph follows. */
  show(): void {
    const { changes } = this.#data;
    const textPane = html('section', { class: 'text-pane', 'aria-label': 'Text' }, this.#textBar(), this.#text.scroller, this.#statusBar());
    this.#body.append(textPane, splitter(this.#body), this.#graph);
    const around = html('div', { class: 'around' });
    if (changes) {
      const list = changeList(changes.hunks, ([old, now]) => {
        this.#text.go(now >= 0 ? this.#text.rows.rowOf(now) : this.#text.rows.rowOf(old, true), { remember: true, follow: true });
      });
      around.append(html('nav', { class: 'changes', 'aria-label': 'Differences' }, list));
    }
    around.append(this.#body);
    const bar = head(this.#data, (shown) => { this.#body.dataset.shown = shown; }, () => { this.#nextFinding(); });
    document.body.append(bar, around);
    document.body.classList.toggle('comparing', changes !== null);
    this.#text.render();
    document.addEventListener('keydown', (event) => { this.#key(event); });
    this.#goToHash();
    window.addEventListener('hashchange', () => { this.#goToHash(); });
    document.documentElement.dataset.state = 'text';
  }

  startGraph(): void {
    startView({
      send: (message) => { void this.#take(message); },
      receive: (take) => { this.#post = take; },
    }, this.#graph);
  }

  // ---- Text and graph in step -----------------------------------------------------------------

  async #moved(row: number, column: number): Promise<void> {
    const { line, old } = this.#text.lineOf(row);
    this.#refreshHistory();
    try {
      history.replaceState(null, '', old ? '#' : `#L${line + 1}`);
    } catch { /* such as a page without an address */ }
    const id = old ? this.#removed.get(line) : undefined;
    if (id !== undefined) this.#session.select(this.#source.placeOf(id), true);
    else if (!old) await this.#session.follow({ line, character: column });
  }

  async #take(message: FromView): Promise<void> {
    try {
      switch (message.type) {
        case 'ready':
          await this.#session.draw();
          break;
        case 'drawn':
          document.documentElement.dataset.state = 'graph';
          break;
        case 'reveal':
          this.#reveal(message.id, message.focus);
          break;
        case 'revealAt':
          this.#text.go(this.#text.rows.rowOf(message.at.line), { remember: true });
          break;
        case 'show':
          await this.#session.take(message);
          this.#reveal(message.id, false);
          break;
        default:
          await this.#session.take(message);
      }
    } catch (error) {
      if (error instanceof Superseded) return; // there is a newer drawing
      this.#post({ type: 'notice', text: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Go to the line of a node. */
  #reveal(id: string, focus: boolean): void {
    const range = this.#session.rangeOf(id);
    if (!range) return;
    this.#text.go(this.#text.rows.rowOf(range.start.line, isRemoved(id)), { remember: true });
    this.#refreshHistory();
    if (focus) this.#text.scroller.focus();
  }

  #goToHash(): void {
    const line = Number(/^#L([0-9]{1,9})$/.exec(location.hash)?.[1] ?? NaN);
    if (line > 0 && line <= this.#data.text.lines.length) this.#text.go(this.#text.rows.rowOf(line - 1), { follow: true });
  }

  #nextFinding(): void {
    const { findings } = this.#data.text;
    this.#finding = (this.#finding + 1) % findings.length;
    const found = findings[this.#finding];
    if (found) this.#text.go(this.#text.rows.rowOf(found[0]), { remember: true, follow: true });
  }

  // ---- Bars and keys --------------------------------------------------------------------------

  #textBar(): HTMLElement {
    const text = this.#text;
    const search = html('input', { type: 'search', class: 'find', placeholder: 'Find in the text', 'aria-label': 'Find in the text', spellcheck: 'false' });
    const count = html('span', { class: 'matches', 'aria-live': 'polite' });
    let found = 0;
    const show = () => { count.textContent = search.value === '' ? '' : found === 0 ? 'none' : `${text.match + 1}/${found.toLocaleString('en')}`; };
    const step = (way: -1 | 1) => {
      text.stepMatch(way);
      show();
    };
    let timer = 0;
    let searched = '';
    const run = () => {
      clearTimeout(timer);
      searched = search.value;
      found = text.find(search.value);
      show();
    };
    search.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(run, DELAY);
    });
    search.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') text.scroller.focus();
      if (event.key !== 'Enter') return;
      if (searched !== search.value) run();
      else step(event.shiftKey ? -1 : 1);
    });
    const back = button('←', 'Back (Alt+Left)', () => { text.travel(-1); });
    const forward = button('→', 'Forward (Alt+Right)', () => { text.travel(1); });
    this.#refreshHistory = () => { [back.disabled, forward.disabled] = text.canTravel.map((can) => !can) as [boolean, boolean]; };
    this.#refreshHistory();
    const steps = this.#data.changes ? [
      button('↑', 'Previous change (p)', () => { text.stepChange(-1); }), button('↓', 'Next change (n)', () => { text.stepChange(1); }),
    ] : [];
    return html('div', { class: 'bar', role: 'toolbar', 'aria-label': 'Text' },
      search, count, button('‹', 'Previous match (Shift+Enter)', () => { step(-1); }), button('›', 'Next match (Enter)', () => { step(1); }),
      html('span', { class: 'spring' }), ...steps, back, forward,
      button('⊟', 'Fold everything', () => { text.foldAll(true); }), button('⊞', 'Unfold everything', () => { text.foldAll(false); }));
  }

  #statusBar(): HTMLElement {
    return html('div', { class: 'status' }, this.#status,
      button('‹', 'Previous use (Shift+Enter)', () => { this.#text.step(-1); }), button('›', 'Next use (Enter)', () => { this.#text.step(1); }));
  }

  #key(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    const search = document.querySelector<HTMLInputElement>('.find');
    const typing = event.target instanceof HTMLInputElement;
    const command = event.ctrlKey || event.metaKey;
    const actions: Partial<Record<string, () => void>> = {
      '/': () => { search?.select(); },
      n: () => { this.#text.stepChange(1); },
      p: () => { this.#text.stepChange(-1); },
    };
    // Pressed twice, it is the browser's search.
    if (command && event.key === 'f' && event.target !== search) actions.f = () => { search?.select(); };
    else if (event.altKey && event.key === 'ArrowLeft') actions.ArrowLeft = () => { this.#text.travel(-1); };
    else if (event.altKey && event.key === 'ArrowRight') actions.ArrowRight = () => { this.#text.travel(1); };
    else if (command || event.altKey || typing) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

/** Whether a node is one of the old version. */
function isRemoved(id: string): boolean {
  return /^g[0-9]+r[0-9]+$/.test(id);
}

async function main(): Promise<void> {
  const layout = unpacked('layout');
  const page = new Page(JSON.parse(await unpacked('model')) as PageData, layout);
  page.show();
  // After the text is painted.
  requestAnimationFrame(() => { setTimeout(() => { page.startGraph(); }); });
}

void main();
