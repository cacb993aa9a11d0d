// SPDX-License-Identifier: Apache-2.0

/** Models for the tests, as the server tells them. */

import type { Graph, GraphDocument, GraphEdge, GraphNode } from '../../src/graph/protocol.ts';

export function node(id: string, line: number, more: Partial<GraphNode> = {}): GraphNode {
  const range = { start: { line, character: 2 }, end: { line, character: 30 } };
  return { id, kind: 'node', op: 'Relu', name: '', detail: '', range, bodies: [], ...more };
}

export function graph(id: string, nodes: GraphNode[], edges: [from: string, to: string][], more: Partial<Graph> = {}): Graph {
  const named: GraphEdge[] = edges.map(([from, to]) => ({ from, to, value: `${from}_out`, type: 'float[N]' }));
  const range = { start: { line: 0, character: 0 }, end: { line: 10_000, character: 0 } };
  return { id, name: id, range, parent: null, nodes, edges: named, ...more };
}

export function model(...graphs: Graph[]): GraphDocument {
  return { version: 1, graphs, truncated: false };
}

/** Residual blocks with attention, as in a transformer: about `count` nodes. */
export function transformer(count: number): GraphDocument {
  const nodes: GraphNode[] = [];
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
  return model(graph('main', nodes, edges));
}

/** A loop with a branch in it, and a function; values of the outer graphs are used inside. */
export function nested(): GraphDocument {
  const yes = graph('yes', [node('half', 6, { op: 'Div' })], [['two', 'half']], { parent: 'if' });
  const no = graph('no', [node('triple', 9, { op: 'Mul' }), node('plus', 10, { op: 'Add' })], [['triple', 'plus']], { parent: 'if' });
  const branches = node('if', 5, { op: 'If', bodies: ['yes', 'no'], range: { start: { line: 5, character: 4 }, end: { line: 11, character: 5 } } });
  const body = graph('step', [node('mod', 4, { op: 'Mod' }), branches], [['two', 'mod'], ['mod', 'if']], { parent: 'loop' });
  const loop = node('loop', 3, { op: 'Loop', bodies: ['step'], range: { start: { line: 3, character: 2 }, end: { line: 13, character: 3 } } });
  const two = node('two', 1, { kind: 'initializer', op: '', name: 'two', detail: 'int64' });
  const start = node('start', 0, { kind: 'input', op: '', name: 'start', detail: 'int64' });
  return model(
    graph('main', [start, two, loop, node('end', 14, { op: 'Reshape' })], [['start', 'loop'], ['loop', 'end']]),
    body, yes, no,
    graph('Scores', [node('fit', 20, { op: 'MatMul' }), node('scale', 21, { op: 'Mul' })], [['fit', 'scale']]),
  );
}
