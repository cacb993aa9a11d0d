// SPDX-License-Identifier: Apache-2.0

/** Models for the tests, as the server sends them. */

import type { Edge, GraphDocument, Group, Item, Task } from '../../src/graph/protocol.ts';

const RANGE = { start: { line: 0, character: 0 }, end: { line: 10_000, character: 0 } };

export function node(id: string, line: number, more: Partial<Item> = {}): Item {
  const range = { start: { line, character: 2 }, end: { line, character: 30 } };
  return { id, kind: 'node', op: 'Relu', name: '', detail: '', range, bodies: [], stubs: [], ...more };
}

/** A group as a member of another one. */
export function folder(id: string, count: number): Item {
  return node(id, 0, { kind: 'group', op: '', name: id, count, operators: [['Relu', count]] });
}

export function group(id: string, items: Item[], edges: [from: string, to: string, value?: string][], more: Partial<Group> = {}): Group {
  const named: Edge[] = edges.map(([from, to, value]) => ({ from, to, value: `0:${value ?? `${from}_out`}`, type: 'float[N]' }));
  return { id, name: id, kind: '', count: items.length, graph: true, parent: null, range: RANGE, items, edges: named, uses: [], makes: [], ...more };
}

export function model(...groups: Group[]): GraphDocument {
  const roots = groups.filter(({ graph, parent }) => graph && parent === null).map(({ id, count }) => folder(id, count));
  return { version: 1, roots, groups, total: groups.reduce((sum, { items }) => sum + items.length, 0), truncated: false, here: null };
}

export function task(of: GraphDocument, more: Partial<Task['options']> = {}, mostNodes = 5000): Task {
  return { model: of, options: { direction: 'down', constants: true, ...more }, mostNodes };
}

/** Residual blocks with attention, as in a transformer: about `count` nodes. */
export function transformer(count: number): GraphDocument {
  const nodes: Item[] = [];
  const edges: [string, string][] = [];
  const add = (op: string, ...from: string[]) => {
    const id = `n${nodes.length}`;
    nodes.push(node(id, nodes.length, { op, detail: 'axis = -1' }));
    for (const each of from) edges.push([each, id]);
    return id;
  };
  let hidden = add('Gather');
  while (nodes.length < count) {
    const project = () => add('Transpose', add('Reshape', add('Add', add('MatMul', hidden))));
    const [query, key, value] = [project(), project(), project()];
    const scores = add('Softmax', add('Mul', add('MatMul', query, key)));
    const attended = add('LayerNormalization', add('Add', hidden, add('MatMul', add('Reshape', add('MatMul', scores, value)))));
    hidden = add('LayerNormalization', add('Add', attended, add('MatMul', add('Gelu', add('MatMul', attended)))));
  }
  return model(group('main', nodes, edges));
}

const body = (id: string) => ({ id, name: id, count: 1 });

/** A loop with a branch in it, and a function; values of the outer graphs are used inside. */
export function nested(): GraphDocument {
  const two = (id: string): [string, string] => ['0:two', id];
  return model(
    group('main', [
      node('start', 0, { kind: 'input', op: '', name: 'start', detail: 'int64' }),
      node('two', 1, { kind: 'input', op: '', name: 'two', detail: 'int64' }),
      node('loop', 3, { op: 'Loop', bodies: [body('step')], uses: [['0:start_out', 'loop'], two('step')] }),
      node('end', 14, { op: 'Reshape' }),
    ], [['start', 'loop'], ['two', 'loop', 'two'], ['loop', 'end']]),
    group('step', [node('mod', 4, { op: 'Mod' }), node('if', 5, { op: 'If', bodies: [body('yes'), body('no')], uses: [['0:mod_out', 'if'], two('yes')] })], [['mod', 'if']],
      { parent: 'loop', uses: [two('mod'), two('if')] }),
    group('yes', [node('half', 6, { op: 'Div' })], [], { parent: 'if', uses: [two('half')] }),
    group('no', [node('triple', 9, { op: 'Mul' }), node('plus', 10, { op: 'Add' })], [['triple', 'plus']], { parent: 'if' }),
    group('Scores', [node('fit', 20, { op: 'MatMul' }), node('scale', 21, { op: 'Mul' })], [['fit', 'scale']]),
  );
}

/** Two blocks in a row, the first with a group inside; `opened` are sent. */
export function blocks(opened: string[]): GraphDocument {
  const all = [
    group('main', [node('x', 0, { kind: 'input', op: '', name: 'x' }), folder('one', 3), folder('two', 2), node('y', 9, { kind: 'output', op: '', name: 'y' })],
      [['x', 'one', 'x'], ['one', 'two', 'a'], ['one', 'two', 'b'], ['two', 'y', 'c'], ['x', 'two', 'x']]),
    group('one', [node('n1', 1), folder('inner', 2)], [['n1', 'inner', 'n1']],
      { graph: false, parent: 'main', uses: [['0:x', 'n1'], ['0:x', 'inner']], makes: [['0:a', 'n1'], ['0:b', 'inner']] }),
    group('inner', [node('n2', 2), node('n3', 3)], [['n2', 'n3', 'n2']],
      { graph: false, parent: 'one', uses: [['0:n1', 'n2'], ['0:x', 'n3']], makes: [['0:b', 'n3']] }),
    group('two', [node('n4', 4), node('n5', 5)], [['n4', 'n5', 'n4']],
      { graph: false, parent: 'main', uses: [['0:a', 'n4'], ['0:b', 'n5'], ['0:x', 'n5']], makes: [['0:c', 'n5']] }),
  ];
  return model(...all.filter(({ id }) => id === 'main' || opened.includes(id)));
}
