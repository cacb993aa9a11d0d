// SPDX-License-Identifier: Apache-2.0

/** Find the node at a place in the text of a model. */

import type { GraphDocument, GraphNode, Position, Range } from './protocol.ts';

/** Negative if a precedes b, 0 if they are equal. */
function compare(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

function contains(range: Range, position: Position): boolean {
  return compare(range.start, position) <= 0 && compare(position, range.end) <= 0;
}

/** Whether range a lies within range b. */
function within(a: Range, b: Range): boolean {
  return compare(b.start, a.start) <= 0 && compare(a.end, b.end) <= 0;
}

/** The innermost node at a position, or on its line if there is none at the position itself. */
export function nodeAt(document: GraphDocument, position: Position): GraphNode | undefined {
  let best: GraphNode | undefined;
  let onLine: GraphNode | undefined;
  for (const graph of document.graphs) {
    for (const node of graph.nodes) {
      if (contains(node.range, position)) {
        // Of two at the same place the later is deeper: graphs precede their nodes.
        if (!best || within(node.range, best.range)) best = node;
      } else if (!onLine && node.range.start.line === position.line) {
        onLine = node;
      }
    }
  }
  // In the blanks before a node of a subgraph, do not select the enclosing node.
  if (best && onLine && within(onLine.range, best.range)) return onLine;
  return best ?? onLine;
}

export function nodeById(document: GraphDocument, id: string): GraphNode | undefined {
  for (const graph of document.graphs) {
    const found = graph.nodes.find((node) => node.id === id);
    if (found) return found;
  }
  return undefined;
}
