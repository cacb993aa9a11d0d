// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createRequire } from 'node:module';
import type { ElkNode } from 'elkjs/lib/elk-api.js';
import { arrange } from '../../src/graph/arrange.ts';
import { Layouter, Superseded } from '../../src/graph/layout.ts';
import type { Box, Drawing } from '../../src/graph/protocol.ts';
import { blocks, group, model, nested, node, task, transformer } from './models.ts';

const ELK = createRequire(import.meta.url)('elkjs/lib/elk.bundled.js') as new () => { layout: (graph: ElkNode) => Promise<ElkNode> };
const elk = new ELK();
const layout = (each: ElkNode) => elk.layout(each);

const inside = (a: Box, b: Box) => b.x <= a.x && b.y <= a.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
const apart = (a: Box, b: Box) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
const boxOf = (drawing: Drawing, id: string): Box => {
  const found = drawing.nodes.find((each) => each.id === id) ?? drawing.groups.find((each) => each.id === id);
  assert.ok(found, `${id} is not drawn`);
  return found;
};

test('every node and edge is drawn, data flows downwards, nothing overlaps', async () => {
  const drawn = await arrange(task(transformer(60)), layout);
  assert.equal(drawn.nodes.length, transformer(60).groups[0]?.items.length);
  assert.equal(drawn.edges.length, transformer(60).groups[0]?.edges.length);
  for (const edge of drawn.edges) assert.ok(boxOf(drawn, edge.from).y < boxOf(drawn, edge.to).y, `${edge.from} is not above ${edge.to}`);
  for (const [at, a] of drawn.nodes.entries()) {
    for (const b of drawn.nodes.slice(at + 1)) assert.ok(apart(a, b), `${a.id} and ${b.id} overlap`);
  }
  for (const each of drawn.nodes) assert.ok(inside(each, { x: 0, y: 0, width: drawn.width, height: drawn.height }));
});

test('edges begin and end at their nodes', async () => {
  for (const drawn of [await arrange(task(transformer(60)), layout), await arrange(task(nested()), layout)]) {
    for (const edge of drawn.edges) {
      const near = (x = NaN, y = NaN, { x: left, y: top, width, height }: Box) =>
        left - 2 <= x && x <= left + width + 2 && top - 2 <= y && y <= top + height + 2;
      assert.ok(near(edge.points[0], edge.points[1], boxOf(drawn, edge.from)), `${edge.from} -> ${edge.to} begins elsewhere`);
      assert.ok(near(edge.points.at(-2), edge.points.at(-1), boxOf(drawn, edge.to)), `${edge.from} -> ${edge.to} ends elsewhere`);
    }
  }
});

test('sub-graphs are drawn in their nodes, functions beside the graph', async () => {
  const drawn = await arrange(task(nested()), layout);
  const box = (id: string) => boxOf(drawn, id);
  for (const [inner, outer] of [['half', 'yes'], ['yes', 'if'], ['plus', 'no'], ['no', 'if'], ['if', 'step'], ['step', 'loop'], ['loop', 'main']] as const) {
    assert.ok(inside(box(inner), box(outer)), `${inner} is not in ${outer}`);
  }
  assert.ok(apart(box('main'), box('Scores')));
  assert.ok(inside(box('fit'), box('Scores')));
  assert.equal(drawn.nodes.find((each) => each.id === 'loop')?.open, true);
});

test('open groups contain their members; a closed one is a box', async () => {
  const drawn = await arrange(task(blocks(['one', 'inner'])), layout);
  const box = (id: string) => boxOf(drawn, id);
  for (const [inner, outer] of [['n1', 'one'], ['inner', 'one'], ['n3', 'inner'], ['one', 'main'], ['two', 'main']] as const) {
    assert.ok(inside(box(inner), box(outer)), `${inner} is not in ${outer}`);
  }
  assert.ok(apart(box('n1'), box('inner')) && apart(box('one'), box('two')));
  assert.deepEqual(drawn.groups.map(({ id, closable }) => [id, closable]), [['main', false], ['one', true], ['inner', true]]);
  assert.equal(drawn.nodes.find(({ id }) => id === 'two')?.kind, 'group');
});

test('the same model is always drawn the same', async () => {
  for (const each of [blocks(['one', 'two']), nested(), transformer(40)]) {
    assert.deepEqual(await arrange(task(each), layout), await arrange(task(structuredClone(each)), layout));
  }
});

test('constants are rows of their node, and nodes with many users of their users', async () => {
  const stub = { label: 'W', value: 'fc/W', text: '', type: 'float[2, 2]', constant: true, from: null, at: { line: 3, character: 2 } };
  const many = Array.from({ length: 9 }, (_, at) => ({ ...stub, label: '', value: `v${at}`, text: String(at) }));
  const shared = { ...stub, label: 'mask', value: '/model/mask', constant: false, from: 'n1' };
  const drawn = (constants: boolean) => arrange(task(model(group('g', [node('a', 1, { stubs: [stub, shared] }), node('b', 2, { stubs: many })], [])), { constants }), layout);
  const rows = async (constants: boolean, id: string) => (await drawn(constants)).nodes.find((each) => each.id === id)?.rows ?? [];
  assert.deepEqual(await rows(true, 'a'), [
    { name: 'W', value: 'float[2, 2]', kind: 'constant', at: { line: 3, character: 2 } },
    { name: 'mask', value: '← mask', kind: 'shared', from: 'n1', at: { line: 3, character: 2 } },
  ]);
  assert.deepEqual((await rows(true, 'b')).map(({ value }) => value), ['0', '1', '2', '3', '4', '5', '… 3 more']);
  assert.deepEqual((await rows(false, 'a')).map(({ name }) => name), ['mask']);
  const taller = (await drawn(true)).nodes[1]?.height ?? 0;
  assert.ok(taller > 14 * 7 + 20);
});

test('to the right, too; a model without nodes is an empty drawing; loops of edges do not hang', async () => {
  const drawn = await arrange(task(transformer(30), { direction: 'right' }), layout);
  for (const edge of drawn.edges) assert.ok(boxOf(drawn, edge.from).x < boxOf(drawn, edge.to).x);
  assert.deepEqual((await arrange(task(model()), layout)).nodes, []);
  assert.deepEqual((await arrange(task(model(group('empty', [], []))), layout)).nodes, []);
  const cycle = model(group('g', [node('a', 1), node('b', 2)], [['a', 'b'], ['b', 'a'], ['a', 'a'], ['ghost', 'a']]));
  assert.equal((await arrange(task(cycle), layout)).edges.length, 2);
});

test('values that a node makes may be used in its own sub-graphs: a mistake, which is drawn', async () => {
  const wrong = nested();
  const [main, step] = wrong.groups;
  main?.edges.push({ from: 'loop', to: 'loop', value: '0:v', type: null });
  main?.items.find(({ id }) => id === 'loop')?.uses?.push(['0:v', 'step']);
  step?.uses.push(['0:v', 'mod']);
  const drawn = await arrange(task(wrong), layout);
  assert.equal(drawn.nodes.length, (await arrange(task(nested()), layout)).nodes.length);
  assert.ok(drawn.edges.some(({ from, to }) => from === 'loop' && to === 'mod'));
});

test('where ELK fails it is tried once more, with less', async () => {
  let calls = 0;
  const stumbling = (each: ElkNode) => {
    calls += 1;
    return calls === 1 ? Promise.reject(new Error('stumbled')) : elk.layout(each);
  };
  const drawn = await arrange(task(transformer(30)), stumbling);
  assert.equal(calls, 2);
  for (const edge of drawn.edges) assert.ok(boxOf(drawn, edge.from).y < boxOf(drawn, edge.to).y);
  await assert.rejects(arrange(task(transformer(30)), () => Promise.reject(new Error('always'))), /always/);
});

test('the thread of the bundle lays out 200 nodes, a chain of 500 too; a newer task ends it', async (t) => {
  const layouter = new Layouter(path.resolve(import.meta.dirname, '../../dist/worker.mjs'));
  const chain = model(group('chain', Array.from({ length: 500 }, (_, at) => node(`n${at}`, at)),
    Array.from({ length: 499 }, (_, at) => [`n${at}`, `n${(at + 1)}`] as [string, string])));
  for (const [name, each, least] of [['transformer', transformer(200), 200], ['chain', chain, 500]] as const) {
    const start = performance.now();
    const drawn = await layouter.layout(task(each));
    assert.ok(drawn.nodes.length >= least);
    t.diagnostic(`${name}: ${drawn.nodes.length} nodes, ${drawn.edges.length} edges in ${Math.round(performance.now() - start)} ms`);
  }
  layouter.stop();
  const first = layouter.layout(task(transformer(2000)));
  const second = layouter.layout(task(transformer(20)));
  await assert.rejects(first, Superseded);
  assert.ok((await second).nodes.length < 60);
  layouter.stop();
});
