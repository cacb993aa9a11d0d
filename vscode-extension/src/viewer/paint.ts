// SPDX-License-Identifier: Apache-2.0

/** Make the element of a row: its number, and its text with colors, names and matches. */

import { html } from '../webview/svg.ts';
import type { Occurrence } from './names.ts';
import type { Row } from './rows.ts';

/** Invisible characters, and those that change the direction of a text. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EACH_HIDDEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/u;
/** Longer lines are cut: a browser takes seconds for a line of megabytes. */
const MAX_CHARACTERS = 5000;

export interface Mark {
  start: number;
  end: number;
  /** CSS classes. */
  style: string;
}

export interface Painted {
  row: number;
  data: Row;
  names: readonly Occurrence[];
  /** What lies over the colors: matches of a search, uses of a name, changed words. */
  marks: Mark[];
  folded: 'open' | 'closed' | undefined;
  /** The number of lines that are hidden behind it. */
  hidden: number;
  /** The number of unchanged lines that it stands for. */
  gap: number;
  selected: boolean;
  finding: [severity: string, message: string] | undefined;
  /** Statistics of weights. */
  note: string | undefined;
}

export function paint({ row, data, names, marks, folded, hidden, gap, selected, finding, note }: Painted): HTMLElement {
  const { mark, text, line } = data;
  const made = html('div', { class: `row${mark === '=' ? '' : mark === '+' ? ' plus' : ' minus'}${selected ? ' here' : ''}`, 'data-row': row });
  if (gap > 0) {
    made.classList.add('gap');
    made.append(html('span', { class: 'gutter' }, '⋯'), html('span', { class: 'gap-words' }, `${gap.toLocaleString('en')} unchanged lines`));
    return made;
  }
  const number = html('span', { class: 'gutter' }, String((text.numbers?.[line] ?? line) + 1));
  if (finding) {
    number.classList.add(finding[0]);
    number.title = finding[1];
  }
  made.append(number);
  made.append(html('span', { class: 'sign' }, mark === '=' ? '' : mark === '-' ? '−' : '+'));
  made.append(html('span', folded ? { class: `fold ${folded}`, role: 'button', 'aria-label': folded === 'open' ? 'Fold' : 'Unfold' } : { class: 'fold' }));
  const code = html('code', {}, ...segments(data, names, marks));
  if (folded === 'closed') code.append(html('span', { class: 'folded' }, `… ${hidden.toLocaleString('en')} ${hidden === 1 ? 'line' : 'lines'}`));
  if (note !== undefined) code.append(html('span', { class: 'note' }, note));
  if (finding) code.append(html('span', { class: `message ${finding[0]}` }, finding[1]));
  made.append(code);
  return made;
}

/** The parts of a line between the borders of tokens, names and marks. */
function segments({ text, line }: Row, names: readonly Occurrence[], marks: Mark[]): Node[] {
  const whole = text.lines[line] ?? '';
  const shown = whole.slice(0, MAX_CHARACTERS);
  const borders = new Set([0, shown.length]);
  const add = (at: number) => { if (at > 0 && at < shown.length) borders.add(at); };
  const tokens: [end: number, style: string][] = [];
  const kinds = text.kinds[line] ?? [];
  for (let at = 0, end = 0; at + 1 < kinds.length; at += 2) {
    end += kinds[at + 1] ?? 0;
    add(end);
    tokens.push([end, text.classes[kinds[at] ?? 0] ?? '']);
  }
  for (const { column, length } of names) [column, column + length].forEach(add);
  for (const { start, end } of marks) [start, end].forEach(add);
  const ordered = [...borders].sort((a, b) => a - b);
  const made: Node[] = [];
  let token = 0;
  for (let at = 0; at + 1 < ordered.length; at += 1) {
    const [start = 0, end = 0] = ordered.slice(at, at + 2);
    while (token < tokens.length && (tokens[token]?.[0] ?? 0) <= start) token += 1;
    const styles = [tokens[token]?.[1] ?? '', ...marks.filter((mark) => mark.start <= start && end <= mark.end).map(({ style }) => style)];
    const name = names.find(({ column, length }) => column <= start && end <= column + length);
    const part = visible(shown.slice(start, end));
    const style = [...styles, name ? 'named' : ''].filter(Boolean).join(' ');
    if (style === '') {
      made.push(...part);
      continue;
    }
    const span = html('span', { class: style }, ...part);
    if (name) span.dataset.name = String(name.name);
    made.push(span);
  }
  if (whole.length > shown.length) made.push(html('span', { class: 'comment' }, ` … ${(whole.length - shown.length).toLocaleString('en')} characters …`));
  return made;
}

/** A text whose invisible characters are shown by their numbers. */
export function visible(text: string): Node[] {
  if (!HIDDEN.test(text)) return [document.createTextNode(text)];
  return text.split(EACH_HIDDEN).filter((part) => part !== '').map((part) => {
    if (part === '\t' || !HIDDEN.test(part)) return document.createTextNode(part);
    return html('span', { class: 'hidden-character' }, `U+${(part.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  });
}

/** The words of two lines that differ, as marks of each. */
export function changedWords(before: string, after: string): [Mark[], Mark[]] {
  const wordsOf = (line: string): string[] => line.match(/[\w.]+|\s+|[^\w\s.]/gu) ?? [];
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length * now.length > 40_000) return [[], []];
  // The longest common subsequence.
  const width = now.length + 1;
  const best = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = old[i] === now[j] ? (best[(i + 1) * width + j + 1] ?? 0) + 1
        : Math.max(best[(i + 1) * width + j] ?? 0, best[i * width + j + 1] ?? 0);
    }
  }
  const marks: [Mark[], Mark[]] = [[], []];
  const add = (side: 0 | 1, start: number, word: string) => {
    const last = marks[side].at(-1);
    if (last?.end === start) last.end += word.length;
    else marks[side].push({ start, end: start + word.length, style: 'changed-word' });
  };
  let [i, j, left, right, same] = [0, 0, 0, 0, 0];
  while (i < old.length || j < now.length) {
    const [a, b] = [old[i], now[j]];
    if (a !== undefined && a === b) {
      [i, j, left, right, same] = [i + 1, j + 1, left + a.length, right + a.length, same + a.trim().length];
    } else if (b === undefined || (a !== undefined && (best[(i + 1) * width + j] ?? 0) >= (best[i * width + j + 1] ?? 0))) {
      add(0, left, a ?? '');
      [i, left] = [i + 1, left + (a ?? '').length];
    } else {
      add(1, right, b);
      [j, right] = [j + 1, right + b.length];
    }
  }
  // Lines with little in common are other lines.
  return same * 3 < Math.min(before.trim().length, after.trim().length) ? [[], []] : marks;
}
