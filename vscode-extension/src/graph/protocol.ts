// SPDX-License-Identifier: Apache-2.0

/** What the server says of a model's graphs, and what the extension and the graph view tell each other. */

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
  /** The operator with its domain, if it is none of ONNX's own; empty for values. */
  op: string;
  name: string;
  /** One short line: attributes of a node, type of a value. */
  detail: string;
  range: Range;
  /** Ids of the graphs that its attributes hold. */
  bodies: string[];
}

export interface GraphEdge {
  from: string;
  to: string;
  /** Name of the value that flows. */
  value: string;
  type: string | null;
}

export interface Graph {
  id: string;
  name: string;
  range: Range;
  /** The node whose attribute holds this graph; null for the model's graph and for functions. */
  parent: string | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** Answer of the request `onnxtext/graph`. */
export interface GraphDocument {
  version: number | null;
  graphs: Graph[];
  /** Whether there was more than the server tells. */
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
  /** What it says when pointed at. */
  hint: string;
  category: Category;
  /** Whether graphs are drawn inside of it. */
  open: boolean;
}

/** A graph inside a node, or one of several graphs of a model. */
export interface DrawnGroup extends Box {
  id: string;
  title: string;
  /** Nesting: the model's graph and functions have 0. */
  depth: number;
}

export interface DrawnEdge {
  from: string;
  to: string;
  /** What it says when pointed at: the value and its type. */
  hint: string;
  /** x and y in turn. */
  points: number[];
  label?: { text: string; x: number; y: number };
}

export interface Drawing {
  width: number;
  height: number;
  nodes: DrawnNode[];
  groups: DrawnGroup[];
  edges: DrawnEdge[];
  /** How many nodes of the model are not drawn. */
  omitted: number;
}

/** What operators are alike: they have a colour in common. */
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
