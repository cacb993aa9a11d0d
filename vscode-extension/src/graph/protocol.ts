// SPDX-License-Identifier: Apache-2.0

/** The types of the server's graph answer, and of the messages between extension and graph view. */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export type NodeKind = 'node' | 'input' | 'output' | 'initializer';

export interface GraphNode {
  id: string;
  kind: NodeKind;
  /** The operator, with its domain unless it is a standard one; empty for values. */
  op: string;
  name: string;
  /** One short line: attributes of a node, type of a value. */
  detail: string;
  range: Range;
  /** The ids of the graphs in its attributes. */
  bodies: string[];
}

export interface GraphEdge {
  from: string;
  to: string;
  /** The name of the value. */
  value: string;
  type: string | null;
}

export interface Graph {
  id: string;
  name: string;
  range: Range;
  /** The node with this graph in an attribute; null for the main graph and functions. */
  parent: string | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** The answer to the request `onnxtext/graph`. */
export interface GraphDocument {
  version: number | null;
  graphs: Graph[];
  /** Whether the answer was truncated. */
  truncated: boolean;
}

// ---- A drawing: places in pixels, from the upper left corner ----------------------------------

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DrawnNode extends Box {
  id: string;
  kind: NodeKind;
  title: string;
  detail: string;
  /** The tooltip. */
  hint: string;
  category: Category;
  /** Whether graphs are drawn inside it. */
  open: boolean;
}

/** A graph inside a node, or one of several graphs of a model. */
export interface DrawnGroup extends Box {
  id: string;
  title: string;
  /** The nesting depth; 0 for the main graph and functions. */
  depth: number;
}

export interface DrawnEdge {
  from: string;
  to: string;
  /** The tooltip: the value and its type. */
  hint: string;
  /** Alternating x and y. */
  points: number[];
  label?: { text: string; x: number; y: number };
}

export interface Drawing {
  width: number;
  height: number;
  nodes: DrawnNode[];
  groups: DrawnGroup[];
  edges: DrawnEdge[];
  /** The number of nodes that are not drawn. */
  omitted: number;
}

/** Categories of operators, each with a colour. */
export type Category =
  | 'layer' | 'activation' | 'normalization' | 'pool' | 'shape' | 'arithmetic' | 'control' | 'constant' | 'quantization' | 'value' | 'other';

export interface ViewOptions {
  direction: 'down' | 'right';
  initializers: boolean;
}

// ---- Messages ---------------------------------------------------------------------------------

export type ToView =
  | { type: 'drawing'; drawing: Drawing; title: string; options: ViewOptions }
  | { type: 'select'; id: string | null; scroll: boolean }
  | { type: 'busy'; text: string }
  | { type: 'notice'; text: string };

export type FromView =
  | { type: 'ready' }
  | { type: 'reveal'; id: string; focus: boolean }
  | { type: 'options'; options: ViewOptions }
  | { type: 'drawn'; nodes: number; edges: number; milliseconds: number };
