// SPDX-License-Identifier: Apache-2.0

/** The words, size and style of nodes. */

import { categoryOf } from './categories.ts';
import type { DrawnNode, Item, Row, Stub } from './protocol.ts';

export const MAX_CHARACTERS = 34;
const TITLE = 24;
export const LINE = 15;
export const ROW = 14;
const MAX_ROWS = 6;

export type Words = Pick<DrawnNode, 'id' | 'kind' | 'title' | 'detail' | 'rows' | 'hint' | 'category' | 'shared' | 'change'>;

/** @param open ids of the graphs that are drawn inside. */
export function wordsOf(item: Item, constants: boolean, open: ReadonlySet<string> = new Set()): Words {
  const operator = item.kind === 'node';
  const title = operator ? item.op : item.name;
  const rows = rowsOf(item, constants, open);
  const detail = item.kind === 'group' ? [item.detail, counted(item.count ?? 0)].filter(Boolean).join(' · ') : item.detail;
  return {
    id: item.id,
    kind: item.kind,
    title: shortened(title || item.name || '(no name)', MAX_CHARACTERS),
    detail: shortened(detail, MAX_CHARACTERS),
    rows,
    hint: hintOf(item, title, detail),
    category: operator ? categoryOf(item.op) : item.kind === 'group' ? 'group' : 'value',
    shared: item.shared === true,
    ...(item.change ? { change: item.change } : {}),
  };
}

function hintOf(item: Item, title: string, detail: string): string {
  const kinds = { node: '', input: 'input', output: 'output', group: 'group, closed' };
  const lines = [title, kinds[item.kind], item.kind === 'node' ? item.name : '', detail];
  if (item.operators?.length) lines.push(item.operators.map(([name, count]) => `${name} × ${count}`).join(', '));
  for (const stub of item.stubs) lines.push(`${stub.label || stub.value}: ${stub.label ? `${stub.value} ` : ''}${stub.text || stub.type}`.trim());
  if (item.shared === true) lines.push('many users: they have no edges');
  if (item.change) lines.push(item.change, ...(item.changes ?? []));
  return lines.filter(Boolean).join('\n');
}

function rowsOf(item: Item, constants: boolean, open: ReadonlySet<string>): Row[] {
  if (item.kind === 'group') {
    const operators = (item.operators ?? []).slice(0, 3).map(([name, count]) => `${name} × ${count}`);
    const more = (item.operators ?? []).length > 3 ? ', …' : '';
    return operators.length === 0 ? [] : [{ name: '', value: shortened(operators.join(', ') + more, MAX_CHARACTERS + 8), kind: 'more' }];
  }
  const stubs = item.stubs.filter((stub) => constants || !stub.constant).map(rowOf);
  const bodies = item.bodies.filter(({ id }) => !open.has(id))
    .map(({ id, name, count }): Row => ({ name: `▸ ${shortened(name, 18)}`, value: counted(count), opens: id, kind: 'body' }));
  const left = stubs.length - MAX_ROWS;
  const more: Row[] = left > 0 ? [{ name: '', value: `… ${left} more`, kind: 'more' }] : [];
  return [...stubs.slice(0, MAX_ROWS), ...more, ...bodies];
}

function rowOf(stub: Stub): Row {
  const name = shortened(stub.label || lastPart(stub.value), 14);
  const value = shortened(stub.constant ? stub.text || stub.type || lastPart(stub.value) : `← ${lastPart(stub.value)}`, 24);
  return {
    name, value, kind: stub.constant ? 'constant' : 'shared',
    ...(stub.from === null ? {} : { from: stub.from }), ...(stub.at ? { at: stub.at } : {}),
  };
}

/** Names of values begin with their scopes. */
function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1) || name;
}

function counted(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

export function sizeOf({ title, detail, rows }: Words): [width: number, height: number] {
  const widest = Math.max(0, ...rows.map(({ name, value }) => Math.round((name.length + value.length + 1) * 5.9) + 18));
  const width = Math.max(64, textWidth(title), textWidth(detail) - 10, widest);
  const height = (detail ? 2 * LINE + 10 : LINE + 12) + (rows.length > 0 ? rows.length * ROW + 4 : 0);
  return [width, height];
}

/** An estimate in pixels, because the fonts are the user's. */
export function textWidth(text: string): number {
  return Math.round(Math.min(text.length, MAX_CHARACTERS) * 7.2) + TITLE;
}

export function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}
