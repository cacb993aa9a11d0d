// SPDX-License-Identifier: Apache-2.0

/** The elements around the text and the graph: the head, the bars, the list of changes. */

import { html } from '../webview/svg.ts';
import type { Hunk, PageData } from './data.ts';
import { visible } from './paint.ts';

export function button(label: string, title: string, action: () => void): HTMLButtonElement {
  const made = html('button', { title, 'aria-label': title, type: 'button' }, label);
  made.addEventListener('click', action);
  return made;
}

export type Shown = 'both' | 'text' | 'graph';

/** The name of the model, a summary, and what is shown. */
export function head(data: PageData, show: (shown: Shown) => void, nextFinding: () => void): HTMLElement {
  const [first, ...rows] = data.overview;
  const made = html('div', { class: 'head-bar', role: 'banner' }, html('h1', {}, ...visible(data.title)));
  if (data.changes) made.append(html('span', { class: 'chip' }, data.changes.verdict));
  for (const words of first?.[1].slice(0, 3) ?? []) made.append(html('span', { class: 'chip' }, words));
  const { findings } = data.text;
  if (findings.length > 0) {
    const errors = findings.filter(([, severity]) => severity === 'error').length;
    const count = (number: number, noun: string) => (number === 0 ? '' : `${number} ${noun}${number === 1 ? '' : 's'}`);
    const words = [count(errors, 'error'), count(findings.length - errors, 'warning')].filter(Boolean).join(', ');
    const chip = button(words, 'Go to the next finding', nextFinding);
    chip.className = `chip findings ${errors > 0 ? 'error' : 'warning'}`;
    made.append(chip);
  }
  if (rows.length > 0) {
    const list = html('dl', {}, ...rows.flatMap(([title, lines]) => [
      html('dt', {}, title), html('dd', {}, ...lines.map((line) => html('div', {}, ...visible(line)))),
    ]));
    made.append(html('details', { class: 'overview' }, html('summary', {}, 'Overview'), list));
  }
  made.append(html('span', { class: 'spring' }));
  const choices: [Shown, string][] = [['text', 'Text'], ['both', 'Both'], ['graph', 'Graph']];
  const buttons = choices.map(([shown, label]) => {
    const each = button(label, `Show ${shown === 'both' ? 'text and graph' : `the ${shown} only`}`, () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === each));
      show(shown);
    });
    each.setAttribute('aria-pressed', String(shown === 'both'));
    return each;
  });
  made.append(html('div', { class: 'choices', role: 'group', 'aria-label': 'What is shown' }, ...buttons));
  return made;
}

/** The list of differences. `go` shows an occurrence of one. */
export function changeList(hunks: Hunk[], go: (place: [number, number]) => void): HTMLElement {
  const list = html('ol', {});
  for (const hunk of hunks) {
    let at = -1;
    const count = html('span', { class: 'count' }, hunk.places.length > 1 ? hunk.places.length.toLocaleString('en') : '');
    const step = (way: -1 | 1) => {
      if (hunk.places.length === 0) return;
      at = at < 0 ? (way === 1 ? 0 : hunk.places.length - 1) : (at + way + hunk.places.length) % hunk.places.length;
      const place = hunk.places[at];
      if (hunk.places.length > 1) count.textContent = `${at + 1}/${hunk.places.length}`;
      for (const other of list.querySelectorAll('.chosen')) other.classList.remove('chosen');
      made.classList.add('chosen');
      made.scrollIntoView({ block: 'nearest' });
      if (place && Math.max(...place) >= 0) go(place);
    };
    const title = html('button', { class: 'title', type: 'button' }, html('span', {}, ...visible(hunk.title)), count);
    title.addEventListener('click', () => { step(1); });
    title.disabled = !hunk.places.some((place) => Math.max(...place) >= 0);
    const lines = hunk.lines.slice(0, 12).map(([mark, text]) => html('div', { class: STYLES[mark] ?? '' }, ...visible(text)));
    const more = hunk.lines.length > 12 ? [html('div', { class: 'remark' }, `… ${hunk.lines.length - 12} more lines`)] : [];
    const made = html('li', {}, title, html('pre', {}, ...lines, ...more));
    list.append(made);
  }
  if (hunks.length === 0) list.append(html('li', { class: 'none' }, 'There are no differences.'));
  return list;
}

const STYLES: Record<string, string> = { '-': 'minus', '+': 'plus', '~': 'renamed', '#': 'remark' };

/** A border between two panes that can be moved. */
export function splitter(place: HTMLElement): HTMLElement {
  const made = html('div', { class: 'splitter', role: 'separator', tabindex: 0, 'aria-orientation': 'vertical', 'aria-label': 'Width of the text', 'aria-valuemin': 15, 'aria-valuemax': 85, 'aria-valuenow': 50 });
  let share = 50;
  const set = (next: number) => {
    share = Math.min(85, Math.max(15, next));
    place.style.setProperty('--share', `${share}%`);
    made.setAttribute('aria-valuenow', String(Math.round(share)));
  };
  made.addEventListener('pointerdown', (event) => { made.setPointerCapture(event.pointerId); });
  made.addEventListener('pointermove', (event) => {
    if (!made.hasPointerCapture(event.pointerId)) return;
    const { left, width } = place.getBoundingClientRect();
    set((event.clientX - left) / width * 100);
  });
  made.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (step !== undefined) set(share + step);
  });
  return made;
}
