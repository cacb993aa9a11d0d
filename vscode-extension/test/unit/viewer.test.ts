// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GraphData, PageData, Run, TextData } from '../../src/viewer/data.ts';
import { Rows } from '../../src/viewer/rows.ts';
import { PageSource } from '../../src/viewer/source.ts';
import { blocks, nested } from './models.ts';

const source = (document: GraphData['document'], open: string[], statements: GraphData['statements'] = []) => new PageSource({
  document, open, details: {}, statements,
  searched: Object.fromEntries(document.groups.flatMap(({ items }) => items.map(({ id, op }) => [id, `${op} ${id}`]))),
});

test('a page sends the open groups of the whole graph, as the server would', async () => {
  const all = source(blocks(['one', 'inner', 'two']), ['main']);
  const shown = async (opened: string[], closed: string[] = []) => (await all.graph({ opened, closed })).groups.map(({ id }) => id).join(' ');
  assert.equal(await shown([]), 'main');
  assert.equal(await shown(['one', 'two']), 'main one two');
  // What is in a closed group is closed.
  assert.equal(await shown(['inner']), 'main');
  assert.equal(await shown(['one', 'inner'], ['one']), 'main');
  assert.deepEqual((await all.place({ id: 'n2' }))?.path, ['main', 'one', 'inner']);
  assert.equal(await all.place({ id: 'none' }), null);
});

test('graphs of nodes are open if the group around their node is', async () => {
  const all = source(nested(), ['main', 'step', 'yes', 'no', 'Scores']);
  const ids = (closed: string[]) => all.graph({ opened: [], closed }).then(({ groups }) => groups.map(({ id }) => id));
  assert.deepEqual(await ids([]), ['main', 'step', 'yes', 'no', 'Scores']);
  assert.deepEqual(await ids(['step']), ['main', 'Scores']);
  assert.deepEqual((await all.place({ id: 'half' }))?.path, ['main', 'loop', 'step', 'if', 'yes']);
  assert.deepEqual((await all.find('MATMUL')).map(({ id }) => id), ['fit']);
});

test('a position leads to the innermost statement', () => {
  // if (…) < then = …{ half } else = …{ triple; plus } >, over lines 4 to 12; two inputs on line 0.
  const all = source(nested(), [], [[0, 3, 0, 'start'], [0, 12, 0, 'two'], [4, 2, 12, 'if'], [6, 4, 6, 'half'], [9, 4, 9, 'triple'], [10, 4, 10, 'plus']]);
  const at = (line: number, character: number) => all.placeAt({ line, character })?.id;
  assert.equal(at(0, 3), 'start');
  assert.equal(at(0, 40), 'two');
  assert.equal(at(0, 0), 'start');
  assert.equal(at(4, 0), 'if');
  assert.equal(at(5, 9), 'if');
  assert.equal(at(6, 9), 'half');
  assert.equal(at(6, 0), 'half');
  assert.equal(at(8, 0), 'if');
  assert.equal(at(10, 90), 'plus');
  assert.equal(at(12, 1), 'if');
  assert.equal(at(13, 0), undefined);
});

const text = (count: number, folds: TextData['folds'] = []): TextData => ({
  lines: Array.from({ length: count }, (_, at) => `line ${at}`), kinds: [], classes: [], numbers: null, names: [], folds, notes: {}, findings: [],
});
const page = (now: TextData, old: TextData | null, rows: Run[]): PageData => ({
  title: '', overview: [], text: now, old, rows, changes: old ? { verdict: '', hunks: [] } : null,
  graph: { document: blocks([]), open: [], details: {}, searched: {}, statements: [] },
});

test('folds hide rows, and what is gone to opens them', () => {
  const rows = new Rows(page(text(10, [[1, 8, 0], [2, 4, 1]]), null, [['=', 0, 0, 10]]));
  assert.deepEqual(rows.visible, [0, 1, 2, 5, 6, 7, 8, 9]);
  assert.equal(rows.place(4), 2);
  assert.equal(rows.reveal(4), true);
  assert.equal(rows.visible.length, 10);
  assert.equal(rows.reveal(4), false);
  rows.foldAll(true);
  // The outermost one holds most of the text.
  assert.deepEqual(rows.visible, [0, 1, 2, 5, 6, 7, 8, 9]);
});

test('unchanged rows are hidden, some around a change are not', () => {
  const rows = new Rows(page(text(101), text(101), [['=', 0, 0, 50], ['-', 50, 50, 1], ['+', 51, 50, 1], ['=', 51, 51, 50]]));
  const [first = -1, ...others] = rows.visible;
  const gap = rows.gap(first);
  assert.deepEqual([gap?.first, gap?.last], [0, 45]);
  assert.deepEqual(others, [46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56]);
  assert.equal(rows.rowOf(50), 51);
  assert.equal(rows.rowOf(50, true), 50);
  assert.equal(rows.isVisible(0), false);
  rows.reveal(0);
  assert.equal(rows.isVisible(0), true);
  assert.equal(rows.isVisible(100), false);
});

test('equal texts are shown whole', () => {
  const rows = new Rows(page(text(30), text(30), [['=', 0, 0, 30]]));
  assert.equal(rows.visible.length, 30);
});
