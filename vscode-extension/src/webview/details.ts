// SPDX-License-Identifier: Apache-2.0

/** The panel with the attributes, types and statistics of the selected node. */

import type { Details, DetailRow } from '../graph/protocol.ts';
import { html } from './svg.ts';

export function showDetails(panel: HTMLElement, details: Details | null): void {
  if (!details) {
    panel.replaceChildren(html('p', { class: 'hint' }, 'Select a node to see its attributes, types and weights.'));
    return;
  }
  const { title, subtitle, text, sections } = details;
  panel.replaceChildren(
    html('h2', {}, title),
    ...(subtitle ? [html('p', { class: 'subtitle' }, subtitle)] : []),
    ...(text ? [html('p', { class: 'text' }, text)] : []),
    ...sections.flatMap(({ title: name, rows }): HTMLElement[] => {
      const list = html('dl', {}, ...rows.flatMap(rowOf));
      // That of exporters is long.
      return name === 'Metadata' ? [html('details', {}, html('summary', {}, name), list)] : [html('h3', {}, name), list];
    }),
  );
}

function rowOf({ name, value, of, uses, note }: DetailRow): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (of) parts.push(html('div', { class: 'of' }, of));
  if (value) parts.push(html('div', { class: 'type' }, value));
  if (note) parts.push(html('div', { class: 'note' }, note));
  if (uses !== undefined && uses > 1) parts.push(html('div', { class: 'note' }, `used by ${uses.toString()} nodes`));
  return [html('dt', {}, name), html('dd', {}, ...parts)];
}
