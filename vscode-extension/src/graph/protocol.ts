// SPDX-License-Identifier: Apache-2.0

/** The types of the server's graph answers, and of the messages between a session and its view. */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export type NodeKind = 'node' | 'input' | 'output' | 'group';

/** What a comparison with another version says about a node or group. */
export type Change = 'added' | 'removed' | 'changed';

/** An input that has no edge: a constant, or a value that many nodes use. */
export interface Stub {
  /** The name in the documentation of the operator, if any. */
  label: string;
  /** The name of the value. */
  value: string;
  /** The value of a small constant; else empty. */
  text: string;
  type: string;
  constant: boolean;
  /** The node that makes a value; null for constants. */
  from: string | null;
  /** Where it is defined in the text. */
  at: Position | null;
}

/** A graph in an attribute of a node. */
export interface Body {
  id: string;
  name: string;
  count: number;
}

/** A node, an input or output of a graph, or a group of them. */
export interface Item {
  id: string;
  kind: NodeKind;
  /** The operator, with its domain unless it is a standard one; empty for values and groups. */
  op: string;
  name: string;
  /** One short line: attributes of a node, type of a value, class of a group's module. */
  detail: string;
  range: Range;
  bodies: Body[];
  stubs: Stub[];
  /** The values that a node with bodies uses, each with the body, or the node itself. */
  uses?: [value: string, id: string][];
  /** Whether its users have stubs, because there are many. */
  shared?: boolean;
  /** The number of nodes and values in a group, and its most frequent operators. */
  count?: number;
  operators?: [operator: string, count: number][];
  change?: Change;
  /** The fields that differ; for a group the numbers of changes. */
  changes?: string[];
}

export interface Edge {
  /** Members of the same group. */
  from: string;
  to: string;
  /** The number of the graph that defines the value, a colon, and its name. */
  value: string;
  type: string | null;
  change?: Change;
}

/** An open group: a graph, or nodes with a common scope. */
export interface Group {
  id: string;
  name: string;
  /** The class of its module, if known. */
  kind: string;
  count: number;
  /** Whether it is a whole graph. */
  graph: boolean;
  /** The group around; for a graph the node that holds it, or null. */
  parent: string | null;
  range: Range;
  items: Item[];
  edges: Edge[];
  /** Values from outside, each with the member that uses it. */
  uses: [value: string, id: string][];
  /** Values used outside, each with the member that makes it. */
  makes: [value: string, id: string][];
}

/** Where a node is: the groups around it, outermost first. */
export interface Place {
  path: string[];
  id: string;
}

/** The answer to the request `onnxtext/graph`. */
export interface GraphDocument {
  version: number | null;
  /** The main graph and the functions. */
  roots: Item[];
  groups: Group[];
  /** The number of nodes and values in the whole model. */
  total: number;
  /** Whether open groups were left out. */
  truncated: boolean;
  /** The node at the position that was asked for. */
  here: Place | null;
  /** What it is compared with, if it is. */
  against?: string | null;
}

/** The answer to the request `onnxtext/graphNode`. */
export interface Details {
  title: string;
  subtitle: string;
  text: string;
  sections: { title: string; rows: DetailRow[] }[];
}

export interface DetailRow {
  name: string;
  value: string;
  /** The name of the value, if `name` is that of a formal parameter. */
  of?: string;
  /** The number of nodes that use the value. */
  uses?: number;
  note?: string;
}

// ---- A drawing: places in pixels, from the upper left corner ----------------------------------

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A line of text in a node: a stub, or a closed graph. */
export interface Row {
  name: string;
  value: string;
  /** The node to show, the place in the text, or the graph to open, on a click. */
  from?: string;
  at?: Position;
  opens?: string;
  kind: 'constant' | 'shared' | 'body' | 'more';
}

export interface DrawnNode extends Box {
  id: string;
  kind: NodeKind;
  title: string;
  detail: string;
  rows: Row[];
  /** The tooltip, also read by screen readers. */
  hint: string;
  category: Category;
  /** Whether graphs are drawn inside it. */
  open: boolean;
  shared: boolean;
  change?: Change;
}

/** An open group. */
export interface DrawnGroup extends Box {
  id: string;
  title: string;
  hint: string;
  /** The nesting depth; 0 for the main graph and functions. */
  depth: number;
  /** Whether it has a title, which closes it. */
  closable: boolean;
  change?: Change;
}

export interface DrawnEdge {
  from: string;
  to: string;
  /** The tooltip: the value and its type. */
  hint: string;
  /** Alternating x and y. */
  points: number[];
  label?: { text: string; x: number; y: number };
  change?: Change;
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

/** Categories of operators, each with a color. */
export type Category =
  | 'layer' | 'activation' | 'normalization' | 'pool' | 'shape' | 'arithmetic' | 'control' | 'constant' | 'quantization' | 'value' | 'group' | 'other';

export interface ViewOptions {
  direction: 'down' | 'right';
  /** Whether nodes list their constants. */
  constants: boolean;
}

/** What a layout needs. */
export interface Task {
  model: GraphDocument;
  options: ViewOptions;
  mostNodes: number;
}

// ---- Messages ---------------------------------------------------------------------------------

export type ToView =
  | { type: 'drawing'; drawing: Drawing; title: string; options: ViewOptions; against: string | null; focus: Place | null }
  | { type: 'select'; place: Place | null; scroll: boolean }
  | { type: 'details'; id: string; details: Details | null }
  | { type: 'found'; words: string; places: Place[] }
  | { type: 'busy'; text: string }
  | { type: 'notice'; text: string };

export type FromView =
  | { type: 'ready' }
  | { type: 'reveal'; id: string; focus: boolean }
  | { type: 'revealAt'; at: Position }
  | { type: 'show'; id: string }
  | { type: 'toggle'; id: string; open: boolean }
  | { type: 'details'; id: string }
  | { type: 'find'; words: string }
  | { type: 'compare' }
  | { type: 'options'; options: ViewOptions }
  | { type: 'drawn'; nodes: number; edges: number; milliseconds: number };
