// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createRequire } from 'node:module';
import type { ElkNode } from 'elkjs/lib/elk-api.js';
import { arrange } from '../../src/graph/arrange.ts';
import { Layouter, Superseded } from '../../src/graph/layout.ts';
import type { Box, Drawing } from '../../src/graph/protocol.ts';
import { graph, model, nested, node, transformer } from './models.ts';

const ELK = createRequire(import.meta.url)('elkjs/lib/elk.bundled.js') as new () => { layout: (graph: ElkNode) => Promise<ElkNode> };
const elk = new ELK();
const layout = (each: ElkNode) => elk.layout(each);
const DOWN = { direction: 'down', initializers: true } as const;

const inside = (a: Box, b: Box) => b.x <= a.x && b.y <= a.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
const apart = (a: Box, b: Box) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
const boxOf = (drawing: Drawing, id: string): Box => {
  const found = drawing.nodes.find((each) => each.id === id) ?? drawing.groups.find((each) => each.id === id);
  assert.ok(found, `${id} is not drawn`);
  return found;
};

test('every node and edge is drawn, data flows downwards, nothing overlaps', async () => {
  const drawn = await arrange(transformer(60), DOWN, 5000, layout);
  assert.equal(drawn.nodes.length, transformer(60).graphs[0]?.nodes.length);
  assert.equal(drawn.edges.length, transformer(60).graphs[0]?.edges.length);
  for (const edge of drawn.edges) assert.ok(boxOf(drawn, edge.from).y < boxOf(drawn, edge.to).y, `${edge.from} is not above ${edge.to}`);
  for (const [at, a] of drawn.nodes.entries()) {
    for (const b of drawn.nodes.slice(at + 1)) assert.ok(apart(a, b), `${a.id} and ${b.id} overlap`);
  }
  for (const each of drawn.nodes) assert.ok(inside(each, { x: 0, y: 0, width: drawn.width, height: drawn.height }));
});

test('edges begin and end at their nodes', async () => {
  for (const drawn of [await arrange(transformer(60), DOWN, 5000, layout), await arrange(nested(), DOWN, 5000, layout)]) {
    for (const edge of drawn.edges) {
      const near = (x = NaN, y = NaN, { x: left, y: top, width, height }: Box) =>
        left - 2 <= x && x <= left + width + 2 && top - 2 <= y && y <= top + height + 2;
      assert.ok(near(edge.points[0], edge.points[1], boxOf(drawn, edge.from)), `${edge.from} -> ${edge.to} begins elsewhere`);
      assert.ok(near(edge.points.at(-2), edge.points.at(-1), boxOf(drawn, edge.to)), `${edge.from} -> ${edge.to} ends elsewhere`);
    }
  }
});

test('sub-graphs are drawn in their nodes, functions beside the graph', async () => {
  const drawn = await arrange(nested(), DOWN, 5000, layout);
  const box = (id: string) => boxOf(drawn, id);
  for (const [inner, outer] of [['half', 'yes'], ['yes', 'if'], ['plus', 'no'], ['no', 'if'], ['if', 'step'], ['step', 'loop'], ['loop', 'main']] as const) {
    assert.ok(inside(box(inner), box(outer)), `${inner} is not in ${outer}`);
  }
  assert.ok(apart(box('main'), box('Scores')));
  assert.ok(inside(box('fit'), box('Scores')));
  assert.equal(drawn.nodes.find((each) => each.id === 'loop')?.open, true);
});

test('initializers are left out if nobody wants them, and their edges with them', async () => {
  const drawn = await arrange(nested(), { ...DOWN, initializers: false }, 5000, layout);
  assert.ok(!drawn.nodes.some((each) => each.id === 'two'));
  assert.ok(!drawn.edges.some((each) => each.from === 'two'));
  assert.equal(drawn.omitted, 0);
});

test('what is too much is counted', async () => {
  const drawn = await arrange(transformer(100), DOWN, 40, layout);
  assert.equal(drawn.nodes.length, 40);
  assert.equal(drawn.omitted, (transformer(100).graphs[0]?.nodes.length ?? 0) - 40);
});

test('to the right, too; a model without nodes is an empty drawing; loops of edges do not hang', async () => {
  const drawn = await arrange(transformer(30), { ...DOWN, direction: 'right' }, 5000, layout);
  for (const edge of drawn.edges) assert.ok(boxOf(drawn, edge.from).x < boxOf(drawn, edge.to).x);
  assert.deepEqual((await arrange(model(), DOWN, 10, layout)).nodes, []);
  assert.deepEqual((await arrange(model(graph('empty', [], [])), DOWN, 10, layout)).nodes, []);
  const cycle = model(graph('g', [node('a', 1), node('b', 2)], [['a', 'b'], ['b', 'a'], ['a', 'a'], ['ghost', 'a']]));
  assert.equal((await arrange(cycle, DOWN, 10, layout)).edges.length, 2);
});

test('values that a node makes may be used in its own sub-graphs: a mistake, which is drawn', async () => {
  const wrong = nested();
  wrong.graphs.find((each) => each.id === 'yes')?.edges.push({ from: 'loop', to: 'half', value: 'v', type: null }, { from: 'half', to: 'loop', value: 'w', type: null });
  const drawn = await arrange(wrong, DOWN, 5000, layout);
  assert.equal(drawn.nodes.length, (await arrange(nested(), DOWN, 5000, layout)).nodes.length);
});

test('where ELK fails it is tried once more, with less', async () => {
  let calls = 0;
  const stumbling = (each: ElkNode) => {
    calls += 1;
    return calls === 1 ? Promise.reject(new Error('stumbled')) : elk.layout(each);
  };
  const drawn = await arrange(transformer(30), DOWN, 5000, stumbling);
  assert.equal(calls, 2);
  for (const edge of drawn.edges) assert.ok(boxOf(drawn, edge.from).y < boxOf(drawn, edge.to).y);
  await assert.rejects(arrange(transformer(30), DOWN, 5000, () => Promise.reject(new Error('always'))), /always/);
});

test('the thread of the bundle lays out 2,000 nodes, a chain of 2,000 too; a newer task ends it', async (t) => {
  const layouter = new Layouter(path.resolve(import.meta.dirname, '../../dist/worker.mjs'));
  const chain = model(graph('chain', Array.from({ length: 2000 }, (_, at) => node(`n${at}`, at)),
    Array.from({ length: 1999 }, (_, at) => [`n${at}`, `n${(at + 1)}`] as [string, string])));
  for (const [name, each] of [['transformer', transformer(2000)], ['chain', chain]] as const) {
    const start = performance.now();
    const drawn = await layouter.layout({ model: each, options: DOWN, mostNodes: 5000 });
    assert.ok(drawn.nodes.length >= 2000);
    t.diagnostic(`${name}: ${drawn.nodes.length} nodes, ${drawn.edges.length} edges in ${Math.round(performance.now() - start)} ms`);
  }
  layouter.stop();
  const first = layouter.layout({ model: transformer(2000), options: DOWN, mostNodes: 5000 });
  const second = layouter.layout({ model: transformer(20), options: DOWN, mostNodes: 5000 });
  await assert.rejects(first, Superseded);
  assert.ok((await second).nodes.length < 60);
  layouter.stop();
});
