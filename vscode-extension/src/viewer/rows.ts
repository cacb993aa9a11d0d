// SPDX-License-Identifier: Apache-2.0

/** The rows of the text: lines of one text, or of two in one order; and which of them are visible. */

import type { PageData, Run, TextData } from './data.ts';

export interface Row {
  mark: Run[0];
  text: TextData;
  /** The index of its line in the text. */
  line: number;
}

export interface Fold {
  first: number;
  /** The last row that it hides. */
  last: number;
  closed: boolean;
  /** Whether it hides unchanged lines, its first one too. */
  gap: boolean;
}

/** The number of unchanged rows around a change that are shown. */
const CONTEXT = 4;
const MIN_GAP = 3;

export class Rows {
  readonly all: Row[] = [];
  readonly folds: Fold[] = [];
  /** The folds that begin in a row. */
  readonly #byRow = new Map<number, Fold>();
  readonly #gaps = new Map<number, Fold>();
  readonly #now: number[] = [];
  readonly #old: number[] = [];
  /** The rows that are shown, in order. */
  visible: number[] = [];
  /** The place of each row in `visible`, or of the last one before it. */
  #places: Int32Array = new Int32Array(0);

  constructor({ text, old, rows, changes }: PageData) {
    for (const [mark, before, after, count] of rows) {
      for (let at = 0; at < count; at += 1) {
        const row = this.all.length;
        if (mark !== '+' && old) this.#old[before + at] = row;
        if (mark !== '-') this.#now[after + at] = row;
        if (mark === '-' && old) this.all.push({ mark, text: old, line: before + at });
        else this.all.push({ mark, text, line: after + at });
      }
    }
    for (const [first, last, closed] of text.folds) {
      const fold = { first: this.rowOf(first), last: this.rowOf(last), closed: closed === 1 && changes === null, gap: false };
      if (fold.last > fold.first) {
        this.folds.push(fold);
        this.#byRow.set(fold.first, fold);
      }
    }
    if (changes !== null) this.#addGaps();
    this.refresh();
  }

  #addGaps(): void {
    const changed = this.all.map(({ mark }) => mark !== '=');
    if (!changed.includes(true)) return;
    let start = 0;
    for (let at = 0; at <= this.all.length; at += 1) {
      if (at < this.all.length && changed[at] !== true) continue;
      const first = start === 0 ? 0 : start + CONTEXT;
      const last = (at === this.all.length ? at : at - CONTEXT) - 1;
      if (last - first + 1 >= MIN_GAP) {
        const fold = { first, last, closed: true, gap: true };
        this.folds.push(fold);
        this.#gaps.set(first, fold);
      }
      start = at + 1;
    }
  }

  /** The row of a line of the new text; of the old one for removed lines. */
  rowOf(line: number, old = false): number {
    return (old ? this.#old : this.#now)[line] ?? 0;
  }

  fold(row: number): Fold | undefined {
    return this.#byRow.get(row);
  }

  /** The unchanged lines that begin with a row and are hidden. */
  gap(row: number): Fold | undefined {
    const found = this.#gaps.get(row);
    return found?.closed === true ? found : undefined;
  }

  /** Compute what is visible. A gap is shown as its first row. */
  refresh(): void {
    const hidden = new Int32Array(this.all.length + 1);
    for (const { first, last, closed } of this.folds) {
      if (!closed) continue;
      hidden[first + 1] = (hidden[first + 1] ?? 0) + 1;
      hidden[last + 1] = (hidden[last + 1] ?? 0) - 1;
    }
    this.visible = [];
    this.#places = new Int32Array(this.all.length);
    let depth = 0;
    for (let row = 0; row < this.all.length; row += 1) {
      depth += hidden[row] ?? 0;
      if (depth === 0) this.visible.push(row);
      this.#places[row] = this.visible.length - 1;
    }
  }

  /** The place of a row among the visible ones; of the one that hides it if it is hidden. */
  place(row: number): number {
    return Math.max(0, this.#places[row] ?? 0);
  }

  isVisible(row: number): boolean {
    return this.visible[this.place(row)] === row && this.gap(row) === undefined;
  }

  /** Open what hides a row; return whether anything did. */
  reveal(row: number): boolean {
    let opened = false;
    for (const fold of this.folds) {
      if (fold.closed && row <= fold.last && (row > fold.first || (fold.gap && row === fold.first))) {
        fold.closed = false;
        opened = true;
      }
    }
    if (opened) this.refresh();
    return opened;
  }

  foldAll(closed: boolean): void {
    for (const fold of this.folds) fold.closed = closed && !this.#isOutermost(fold);
    this.refresh();
  }

  /** Whether it holds most of the text: to close it would hide the model. */
  #isOutermost({ first, last, gap }: Fold): boolean {
    return !gap && last - first > this.all.length / 2;
  }
}
