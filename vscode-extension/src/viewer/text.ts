// SPDX-License-Identifier: Apache-2.0

/**
 * The text: a list of rows of which only those in sight are elements, with a cursor, folds, the uses
 * of a name and the matches of a search.
 */

import { html } from '../webview/svg.ts';
import type { PageData, TextData } from './data.ts';
import { Names, type Occurrence } from './names.ts';
import { changedWords, type Mark, paint } from './paint.ts';
import { Rows } from './rows.ts';

/** The height of a row in pixels, as in the style sheet. */
const HEIGHT = 20;
/** Rows above and below the window that are elements, too. */
const SPARE = 30;
/** So many selected rows stay elements when they are out of sight. */
const MAX_SELECTED = 20_000;

export interface Match {
  row: number;
  start: number;
  end: number;
}

export interface TextHost {
  /** The cursor was moved, by the user. */
  moved: (row: number, column: number) => void;
  /** Another name is marked, or another use of it. */
  marked: (words: string) => void;
}

export class TextView {
  readonly rows: Rows;
  readonly scroller = html('div', { class: 'scroller', tabindex: 0, role: 'document', 'aria-label': 'Text of the model' });
  readonly #sheet = html('div', { class: 'sheet' });
  readonly #window = html('div', { class: 'window' });
  readonly #host: TextHost;
  readonly #text: TextData;
  readonly #names: Names;
  readonly #oldNames: Names | undefined;
  readonly #findings: Map<number, [string, string]>;
  readonly #words = new Map<number, Mark[]>();
  readonly #elements = new Map<number, HTMLElement>();
  #cursor = -1;
  /** The marked name, the text it is in, and which of its occurrences was visited. */
  #marked: { names: Names; name: number; at: number } | undefined;
  #matches: Match[] = [];
  #byRow = new Map<number, Match[]>();
  #match = -1;
  readonly #back: number[] = [];
  readonly #forward: number[] = [];
  #frame = 0;
  #all = false;

  constructor(data: PageData, host: TextHost) {
    this.#host = host;
    this.#text = data.text;
    this.rows = new Rows(data);
    this.#names = new Names(data.text);
    this.#oldNames = data.old ? new Names(data.old) : undefined;
    this.#findings = new Map([...data.text.findings].reverse().map(([line, severity, code, message]) => [line, [severity, `${message} [${code}]`]]));
    this.#pairWords();
    this.#sheet.append(this.#window);
    this.scroller.append(this.#sheet);
    this.scroller.addEventListener('scroll', () => { this.#refresh(); }, { passive: true });
    this.scroller.addEventListener('click', (event) => { this.#click(event); });
    this.scroller.addEventListener('keydown', (event) => { this.#key(event); });
    this.scroller.addEventListener('pointerover', (event) => { this.#hint(event); });
    this.scroller.addEventListener('pointerdown', () => { this.#selectAll(false); });
    this.scroller.addEventListener('copy', (event) => { this.#copy(event); });
    new ResizeObserver(() => { this.#refresh(); }).observe(this.scroller);
    const longest = this.rows.all.reduce((most, { text, line }) => Math.max(most, (text.lines[line] ?? '').length), 0);
    this.#sheet.style.minWidth = `${Math.min(longest, 5000) + 16}ch`;
  }

  get cursor(): number {
    return this.#cursor;
  }

  /** The line and side of a row. */
  lineOf(row: number): { line: number; old: boolean } {
    const found = this.rows.all[row];
    return { line: found?.line ?? 0, old: found?.mark === '-' };
  }

  /** In blocks that replace as many lines, mark the words that differ. */
  #pairWords(): void {
    const { all } = this.rows;
    for (let start = 0; start < all.length; start += 1) {
      if (all[start]?.mark !== '-') continue;
      let middle = start;
      while (all[middle]?.mark === '-') middle += 1;
      let end = middle;
      while (all[end]?.mark === '+') end += 1;
      for (let at = 0; middle - start === end - middle && start + at < middle; at += 1) {
        const [before, after] = [all[start + at], all[middle + at]].map((row) => row?.text.lines[row.line] ?? '');
        const [old, now] = changedWords(before ?? '', after ?? '');
        this.#words.set(start + at, old);
        this.#words.set(middle + at, now);
      }
      start = Math.max(start, end - 1);
    }
  }

  // ---- Showing --------------------------------------------------------------------------------

  /** Show everything again. */
  repaint(): void {
    this.#elements.clear();
    this.#window.replaceChildren();
    this.render();
  }

  #refresh(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.render();
    });
  }

  /** Make the rows in sight elements. */
  render(): void {
    const { visible } = this.rows;
    this.#sheet.style.height = `${visible.length * HEIGHT + 8}px`;
    const { scrollTop, clientHeight } = this.scroller;
    let first = Math.max(0, Math.floor(scrollTop / HEIGHT) - SPARE);
    let last = Math.min(visible.length, Math.ceil((scrollTop + clientHeight) / HEIGHT) + SPARE);
    const selected = this.#selectedPlaces();
    if (selected) [first, last] = [Math.min(first, selected[0]), Math.max(last, selected[1] + 1)];
    const wanted = new Set(visible.slice(first, last));
    for (const [row, element] of this.#elements) {
      if (wanted.has(row)) continue;
      element.remove();
      this.#elements.delete(row);
    }
    this.#window.style.top = `${first * HEIGHT}px`;
    // Elements that stay are not moved: that would clear the selection.
    let next = this.#window.firstElementChild;
    for (const row of wanted) {
      const known = this.#elements.get(row);
      if (known && known === next) next = known.nextElementSibling;
      else {
        const made = known ?? this.#paint(row);
        this.#elements.set(row, made);
        this.#window.insertBefore(made, next);
      }
    }
  }

  /** The places of the rows with the ends of the selection. */
  #selectedPlaces(): [number, number] | undefined {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || !this.#window.contains(selection.anchorNode) || !this.#window.contains(selection.focusNode)) return undefined;
    const places = [selection.anchorNode, selection.focusNode].map((node) => {
      const element = node instanceof Element ? node : node?.parentElement;
      const row = element?.closest<HTMLElement>('.row')?.dataset.row;
      return row === undefined ? undefined : this.rows.place(Number(row));
    });
    const [from, to] = places;
    if (from === undefined || to === undefined || Math.abs(from - to) > MAX_SELECTED) return undefined;
    return [Math.min(from, to), Math.max(from, to)];
  }

  #paint(row: number): HTMLElement {
    const data = this.rows.all[row];
    if (!data) return html('div');
    const fold = this.rows.fold(row);
    const gap = this.rows.gap(row);
    const names = this.#namesOf(row);
    const marks: Mark[] = [...(this.#words.get(row) ?? [])];
    const marked = this.#marked;
    if (marked && marked.names === names) {
      for (const each of names.at(data.line)) {
        if (each.name !== marked.name) continue;
        marks.push({ start: each.column, end: each.column + each.length, style: each.role === 0 ? 'use' : 'use definition' });
      }
    }
    for (const { start, end } of this.#byRow.get(row) ?? []) {
      const current = this.#matches[this.#match];
      marks.push({ start, end, style: current?.row === row && current.start === start ? 'match current' : 'match' });
    }
    return paint({
      row, data, marks, names: names?.at(data.line) ?? [], folded: fold ? (fold.closed ? 'closed' : 'open') : undefined,
      hidden: fold ? fold.last - fold.first : 0, gap: gap ? gap.last - gap.first + 1 : 0, selected: row === this.#cursor,
      finding: data.mark === '-' ? undefined : this.#findings.get(data.line), note: data.text.notes[data.line],
    });
  }

  #namesOf(row: number): Names | undefined {
    return this.rows.all[row]?.mark === '-' ? this.#oldNames : this.#names;
  }

  // ---- The cursor -----------------------------------------------------------------------------

  /** Go to a row, and open what hides it. */
  go(row: number, { remember = false, follow = false, column = -1 } = {}): void {
    if (!this.rows.all[row]) return;
    if (remember && this.#cursor >= 0 && this.#cursor !== row) {
      this.#back.push(this.#cursor);
      this.#forward.length = 0;
    }
    this.rows.reveal(row);
    this.#cursor = row;
    this.#scrollTo(row);
    this.repaint();
    if (follow) this.#host.moved(row, column >= 0 ? column : this.#indent(row));
  }

  #indent(row: number): number {
    const { line } = this.lineOf(row);
    const text = this.rows.all[row]?.text.lines[line] ?? '';
    return text.length - text.trimStart().length;
  }

  /** Scroll if a row is not in sight. */
  #scrollTo(row: number): void {
    const top = this.rows.place(row) * HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    this.#sheet.style.height = `${this.rows.visible.length * HEIGHT + 8}px`;
    if (top < scrollTop + HEIGHT || top > scrollTop + clientHeight - 3 * HEIGHT) this.scroller.scrollTop = Math.max(0, top - clientHeight / 3);
  }

  /** Go back (-1) or forward (1) in the history of jumps. */
  travel(way: -1 | 1): void {
    const [from, to] = way === -1 ? [this.#back, this.#forward] : [this.#forward, this.#back];
    const row = from.pop();
    if (row === undefined) return;
    if (this.#cursor >= 0) to.push(this.#cursor);
    this.go(row, { follow: true });
  }

  get canTravel(): [back: boolean, forward: boolean] {
    return [this.#back.length > 0, this.#forward.length > 0];
  }

  toggle(row: number): void {
    const fold = this.rows.gap(row) ?? this.rows.fold(row);
    if (!fold) return;
    fold.closed = !fold.closed;
    this.rows.refresh();
    this.repaint();
  }

  foldAll(closed: boolean): void {
    this.rows.foldAll(closed);
    this.repaint();
    if (this.#cursor >= 0) this.#scrollTo(this.#cursor);
  }

  // ---- Names ----------------------------------------------------------------------------------

  /** Mark the uses of a name; go to its definition. */
  #choose(names: Names, { name, line, column, role }: Occurrence, row: number): void {
    const all = names.of(name);
    const at = all.findIndex((each) => each.line === line && each.column === column);
    const target = role === 0 ? names.definition(name) : undefined;
    this.#marked = { names, name, at: target ? all.indexOf(target) : at };
    this.#announce();
    this.#cursor = row; // a jump back leads to the use
    if (target) this.go(this.#rowOf(names, target), { remember: true, follow: true, column: target.column });
    else this.go(row, { follow: true, column });
  }

  #rowOf(names: Names, { line }: Occurrence): number {
    return this.rows.rowOf(line, names === this.#oldNames);
  }

  /** Go to the next (1) or previous (-1) occurrence of the marked name. */
  step(way: -1 | 1): void {
    const marked = this.#marked;
    if (!marked) return;
    const all = marked.names.of(marked.name);
    marked.at = (marked.at + way + all.length) % all.length;
    const found = all[marked.at];
    if (found) this.go(this.#rowOf(marked.names, found), { remember: true, follow: true, column: found.column });
    this.#announce();
  }

  #announce(): void {
    const marked = this.#marked;
    if (!marked) {
      this.#host.marked('');
      return;
    }
    const all = marked.names.of(marked.name);
    this.#host.marked(`${this.#describe(marked.names, marked.name)} — ${marked.at + 1} of ${all.length}`);
  }

  #describe(names: Names, name: number): string {
    const { name: word, kind, type } = names.about(name);
    const uses = names.of(name).filter(({ role }) => role === 0).length;
    const definition = names.definition(name);
    const note = definition ? this.#text.notes[definition.line] : undefined;
    const text = names === this.#oldNames ? undefined : this.#text;
    const where = definition ? `line ${(text?.numbers?.[definition.line] ?? definition.line) + 1}` : 'not defined here';
    return [`${word}${type ? `: ${type}` : ''}`, kind === 'value' ? where : `${kind}, ${where}`, `${uses} ${uses === 1 ? 'use' : 'uses'}`, note].filter(Boolean).join(' · ');
  }

  /** The tooltip of a name. */
  #hint(event: Event): void {
    const found = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>('[data-name]') : null;
    const row = found?.closest<HTMLElement>('.row')?.dataset.row;
    const names = row === undefined ? undefined : this.#namesOf(Number(row));
    if (found && names && found.title === '') found.title = this.#describe(names, Number(found.dataset.name)).replaceAll(' · ', '\n');
  }

  // ---- Search ---------------------------------------------------------------------------------

  /** Find words in all rows, in capitals or not unless they have some. Return the number of matches. */
  find(words: string): number {
    this.#matches = [];
    this.#byRow.clear();
    this.#match = -1;
    const exact = words !== words.toLowerCase();
    for (let row = 0; words !== '' && row < this.rows.all.length && this.#matches.length < 100_000; row += 1) {
      const { text, line } = this.rows.all[row] ?? { text: this.#text, line: 0 };
      const whole = text.lines[line] ?? '';
      // Some letters have another length in lower case.
      const lower = exact ? whole : whole.toLowerCase();
      const searched = lower.length === whole.length ? lower : whole;
      for (let at = searched.indexOf(words); at >= 0; at = searched.indexOf(words, at + words.length)) {
        const found = { row, start: at, end: at + words.length };
        this.#matches.push(found);
        const others = this.#byRow.get(row);
        if (others) others.push(found);
        else this.#byRow.set(row, [found]);
      }
    }
    const from = Math.max(this.#cursor, 0);
    const first = this.#matches.findIndex(({ row }) => row >= from);
    if (this.#matches.length > 0) this.showMatch(Math.max(0, first));
    else this.repaint();
    return this.#matches.length;
  }

  get match(): number {
    return this.#match;
  }

  /** Go to the next (1) or previous (-1) match. */
  stepMatch(way: -1 | 1): void {
    if (this.#matches.length > 0) this.showMatch((this.#match + way + this.#matches.length) % this.#matches.length);
  }

  showMatch(at: number): void {
    const found = this.#matches[at];
    if (!found) return;
    this.#match = at;
    this.go(found.row, { follow: true, column: found.start });
    const left = found.start * 7.3;
    if (left > this.scroller.scrollLeft + this.scroller.clientWidth - 120 || left < this.scroller.scrollLeft) this.scroller.scrollLeft = Math.max(0, left - 200);
  }

  // ---- Changes --------------------------------------------------------------------------------

  /** Go to the next (1) or previous (-1) run of rows that differ. */
  stepChange(way: -1 | 1): void {
    const { all } = this.rows;
    const isFirst = (row: number) => all[row]?.mark !== '=' && (all[row - 1]?.mark ?? '=') === '=';
    for (let row = this.#cursor + way; row >= 0 && row < all.length; row += way) {
      if (!isFirst(row)) continue;
      this.go(row, { remember: true, follow: true });
      return;
    }
  }

  // ---- Pointer and keys -----------------------------------------------------------------------

  #click(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : undefined;
    const element = target?.closest<HTMLElement>('.row');
    if (!target || !element || getSelection()?.isCollapsed === false) return;
    const row = Number(element.dataset.row);
    if (this.rows.gap(row) || target.closest('.fold, .folded')) {
      this.toggle(row);
      return;
    }
    const named = target.closest<HTMLElement>('[data-name]');
    const names = this.#namesOf(row);
    const { line } = this.lineOf(row);
    const chosen = named && names?.at(line).find(({ name, column, length }) => String(name) === named.dataset.name && this.#covers(element, named, column, length));
    if (chosen && names) this.#choose(names, chosen, row);
    else this.go(row, { follow: true });
  }

  /** Whether a part of a row is in an occurrence: a name may occur in a line twice. */
  #covers(row: HTMLElement, part: HTMLElement, column: number, length: number): boolean {
    const parts = [...row.querySelectorAll<HTMLElement>(`[data-name="${part.dataset.name ?? ''}"]`)];
    const { line } = this.lineOf(Number(row.dataset.row));
    const all = this.#namesOf(Number(row.dataset.row))?.at(line).filter(({ name }) => String(name) === part.dataset.name) ?? [];
    // As a rule a name is one part.
    if (parts.length === all.length) return all[parts.indexOf(part)]?.column === column;
    return length > 0;
  }

  #key(event: KeyboardEvent): void {
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key === 'a') {
      event.preventDefault();
      this.#selectAll(true);
      return;
    }
    if (command || event.altKey) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / HEIGHT) - 2);
    const actions: Partial<Record<string, () => void>> = {
      ArrowDown: () => { this.#move(1); },
      ArrowUp: () => { this.#move(-1); },
      PageDown: () => { this.#move(page); },
      PageUp: () => { this.#move(-page); },
      Home: () => { this.#move(-Infinity); },
      End: () => { this.#move(Infinity); },
      ArrowLeft: () => { this.#fold(true); },
      ArrowRight: () => { this.#fold(false); },
      Enter: () => { this.step(event.shiftKey ? -1 : 1); },
      Escape: () => { this.#marked = undefined; this.#announce(); this.repaint(); },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    this.#selectAll(false);
    action();
  }

  #move(count: number): void {
    const { visible } = this.rows;
    const place = this.#cursor < 0 ? Math.floor(this.scroller.scrollTop / HEIGHT) - 1 : this.rows.place(this.#cursor);
    const row = visible[Math.max(0, Math.min(visible.length - 1, place + count))];
    if (row === undefined) return;
    // A gap stays closed while the cursor passes.
    this.#cursor = row;
    this.#scrollTo(row);
    this.repaint();
    this.#host.moved(row, this.#indent(row));
  }

  /** Fold or unfold at the cursor; if it is folded already, go to what is around. */
  #fold(closed: boolean): void {
    if (this.#cursor < 0) return;
    const own = this.rows.gap(this.#cursor) ?? this.rows.fold(this.#cursor);
    if (own && own.closed !== closed) {
      this.toggle(this.#cursor);
      return;
    }
    if (!closed) return;
    const around = this.rows.folds.filter(({ first, last, gap }) => !gap && first < this.#cursor && this.#cursor <= last).at(-1);
    if (around) this.go(around.first, { follow: true });
  }

  // ---- All of the text ------------------------------------------------------------------------

  #selectAll(all: boolean): void {
    if (this.#all === all) return;
    this.#all = all;
    if (all) getSelection()?.removeAllRanges();
    this.scroller.classList.toggle('all', all);
  }

  #copy(event: ClipboardEvent): void {
    if (!this.#all) return;
    event.preventDefault();
    event.clipboardData?.setData('text/plain', this.#text.lines.join('\n'));
  }
}
