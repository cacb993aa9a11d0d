// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compose, type VisibleBox } from '../../src/graph/compose.ts';
import { blocks, folder, group, model, nested, node, transformer } from './models.ts';

const leaves = (box: VisibleBox): string[] => [...(box.item ? [box.id] : []), ...box.children.flatMap(leaves)];
const drawn = (opened: string[]) => compose(blocks(opened), 100);
const edges = (opened: string[]) => drawn(opened).edges.map(({ from, to, values }) => `${from}-${values.join('+')}-${to}`).sort();

/** The node of a block that is really meant, whatever is open. */
const WIRES = ['x-x-n1', 'x-x-n3', 'x-x-n5', 'n1-n1-n2', 'n2-n2-n3', 'n1-a-n4', 'n3-b-n5', 'n4-n4-n5', 'n5-c-y'];
const AROUND: Record<string, string[]> = { n1: ['one'], n2: ['one', 'inner'], n3: ['one', 'inner'], n4: ['two'], n5: ['two'] };

test('for each choice of open groups every node lies in one box, and no edge is lost or invented', () => {
  const groups = ['one', 'inner', 'two'];
  for (let choice = 0; choice < 8; choice += 1) {
    const opened = groups.filter((_, at) => (choice >> at) % 2 === 1);
    // The visible box of a node is the outermost closed group around.
    const visible = (id: string) => (AROUND[id] ?? []).find((each) => !opened.includes(each)) ?? id;
    const wanted = new Set(WIRES.map((wire) => wire.split('-') as [string, string, string])
      .map(([from, value, to]) => [visible(from), value, visible(to)])
      .filter(([from, , to]) => from !== to).map((parts) => parts.join('-')));
    const found = drawn(opened).edges.flatMap(({ from, to, values }) => values.map((value) => `${from}-${value}-${to}`));
    assert.deepEqual(found.sort(), [...wanted].sort(), opened.join(' '));
    const boxes = drawn(opened).roots.flatMap(leaves);
    assert.equal(new Set(boxes).size, boxes.length);
    assert.deepEqual(new Set(boxes), new Set(['x', 'y', ...Object.keys(AROUND).map(visible)]));
  }
});

test('several values between two groups are one edge', () => {
  assert.deepEqual(edges([]), ['one-a+b-two', 'two-c-y', 'x-x-one', 'x-x-two']);
});

test('a closed graph leaves its edges at its node; values that both use lead to both', () => {
  const wanted = ['if', 'half'];
  assert.deepEqual(compose(nested(), 100).edges.filter(({ from }) => from === 'two').map(({ to }) => to).sort(), ['half', 'mod']);
  const closed = nested();
  closed.groups = closed.groups.filter(({ id }) => !['step', 'yes', 'no'].includes(id));
  assert.deepEqual(compose(closed, 100).edges.map(({ from, to }) => `${from} ${to}`).sort(), ['fit scale', 'loop end', 'start loop', 'two loop']);
  const both = nested();
  both.groups[1]?.items[1]?.uses?.push(['0:two', 'if']);
  assert.deepEqual(compose(both, 100).edges.filter(({ from, to }) => from === 'two' && wanted.includes(to)).map(({ to }) => to).sort(), ['half', 'if']);
});

test('what is too much is counted', () => {
  const count = transformer(100).groups[0]?.items.length ?? 0;
  const scene = compose(transformer(100), 40);
  assert.equal(scene.roots.flatMap(leaves).length, 40);
  assert.equal(scene.omitted, count - 40);
});

test('closed roots are boxes; members that were not sent, and edges to them, are no trouble', () => {
  const odd = model(group('main', [folder('gone', 4), node('n', 1)], [['gone', 'n'], ['n', 'nowhere'], ['n', 'n']]));
  odd.roots.push(folder('function', 12));
  const scene = compose(odd, 100);
  assert.deepEqual(scene.roots.flatMap(leaves), ['gone', 'n', 'function']);
  assert.deepEqual(scene.edges.map(({ from, to }) => `${from} ${to}`), ['gone n']);
});
