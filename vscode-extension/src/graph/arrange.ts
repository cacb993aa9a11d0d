// SPDX-License-Identifier: Apache-2.0

/**
 * Arrange the graphs of a model as a drawing: choose nodes, compute sizes, and get positions from ELK
 * (https://eclipse.dev/elk).
 */

import type { ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js';
import { categoryOf } from './categories.ts';
import type {
  DrawnEdge, DrawnGroup, DrawnNode, Drawing, Graph, GraphDocument, GraphEdge, GraphNode, ViewOptions,
} from './protocol.ts';

export type Layout = (graph: ElkNode) => Promise<ElkNode>;

const TITLE_HEIGHT = 24;
const LINE_HEIGHT = 15;
const GAP = 40;
const MOST_CHARACTERS = 34;
/** The maximum number of edges with names and types beside them. */
const MOST_LABELS = 300;
/** Above this number of nodes, ELK minimizes crossings less thoroughly; */
const MANY_NODES = 300;
/** above this number, also layers. */
const VERY_MANY_NODES = 1000;

/** Draw a model's graphs, at most `mostNodes` nodes. */
export async function arrange(model: GraphDocument, options: ViewOptions, mostNodes: number, layout: Layout): Promise<Drawing> {
  const scene = new Scene(model, options, mostNodes);
  const drawing: Drawing = { width: 0, height: 0, nodes: [], groups: [], edges: [], omitted: scene.omitted };
  const roots = scene.graphs.filter((graph) => graph.parent === null && graph.nodes.length > 0);
  for (const root of roots) {
    const titled = roots.length > 1;
    const arranged = await layout(scene.elkOf(root, titled, false)).catch(
      // ELK 0.12 fails for some graphs, but not with its default options.
      () => layout(scene.elkOf(root, titled, true)));
    place(arranged, scene, drawing, drawing.width === 0 ? 0 : drawing.width + GAP);
  }
  return drawing;
}

/** The part of a model that is drawn. */
class Scene {
  readonly graphs: Graph[];
  readonly nodes = new Map<string, GraphNode>();
  readonly edges = new Map<string, GraphEdge>();
  readonly omitted: number;
  readonly #byId: Map<string, Graph>;
  readonly #direction: ViewOptions['direction'];

  constructor(model: GraphDocument, options: ViewOptions, mostNodes: number) {
    this.#direction = options.direction;
    const wanted = (node: GraphNode) => options.initializers || node.kind !== 'initializer';
    let room = mostNodes;
    let omitted = 0;
    this.graphs = model.graphs.map((graph) => {
      const nodes = graph.nodes.filter(wanted);
      const drawn = nodes.slice(0, Math.max(0, room));
      room -= drawn.length;
      omitted += nodes.length - drawn.length;
      for (const node of drawn) this.nodes.set(node.id, node);
      return { ...graph, nodes: drawn };
    });
    this.omitted = omitted;
    this.#byId = new Map(this.graphs.map((graph) => [graph.id, graph]));
  }

  /**
   * Convert a top-level graph with its nested graphs to ELK's input.
   *
   * @param plain whether to use ELK's defaults for all but the direction.
   */
  elkOf(root: Graph, titled: boolean, plain: boolean): ElkNode {
    const inside: GraphEdge[] = [];
    const seen = new Set<string>();
    const elk = this.#group(root, titled, inside, seen);
    const edges = inside.filter((edge) => seen.has(edge.from) && seen.has(edge.to) && edge.from !== edge.to);
    const nested = root.nodes.some((node) => this.#bodies(node).length > 0);
    const options = this.#options(seen.size, nested, plain);
    // Without nesting each level is laid out separately, and inherits no options.
    if (!nested) elk.layoutOptions = { ...options, ...elk.layoutOptions };
    return {
      id: `root ${root.id}`,
      layoutOptions: { ...options, 'elk.padding': padding(0) },
      children: [elk],
      edges: edges.map((edge, at) => this.#edge(edge, `${root.id} ${at}`, edges.length <= MOST_LABELS)),
    };
  }

  #bodies(node: GraphNode): Graph[] {
    return node.bodies.map((id) => this.#byId.get(id)).filter((body) => body !== undefined && body.nodes.length > 0) as Graph[];
  }

  #group(graph: Graph, titled: boolean, edges: GraphEdge[], seen: Set<string>): ElkNode {
    for (const edge of graph.edges) edges.push(edge);
    const children = graph.nodes.map((node) => {
      seen.add(node.id);
      const bodies = this.#bodies(node);
      const [width, height] = sizeOf(node);
      if (bodies.length === 0) return { id: node.id, width, height };
      return {
        id: node.id,
        layoutOptions: {
          'elk.padding': padding(height + 4),
          'elk.nodeSize.constraints': 'MINIMUM_SIZE',
          'elk.nodeSize.minimum': `(${width}, ${height})`,
        },
        children: bodies.map((body) => this.#group(body, true, edges, seen)),
      };
    });
    const top = titled ? TITLE_HEIGHT + 6 : 8;
    const options: LayoutOptions = {
      'elk.padding': padding(top),
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${titled ? textWidth(graph.name).toString() : '0'}, 0)`,
    };
    return { id: groupId(graph.id), layoutOptions: options, children };
  }

  #edge(edge: GraphEdge, id: string, labelled: boolean): ElkExtendedEdge {
    this.edges.set(id, edge);
    const text = shortened(edge.type ?? edge.value, MOST_CHARACTERS);
    const labels = labelled && text ? { labels: [{ text, width: text.length * 5.6 + 4, height: 12 }] } : {};
    return { id, sources: [edge.from], targets: [edge.to], ...labels };
  }

  #options(nodes: number, nested: boolean, plain: boolean): LayoutOptions {
    const needed: LayoutOptions = {
      'elk.algorithm': 'layered',
      'elk.direction': this.#direction === 'down' ? 'DOWN' : 'RIGHT',
      'elk.hierarchyHandling': nested ? 'INCLUDE_CHILDREN' : 'INHERIT',
      'elk.json.shapeCoords': 'ROOT',
      'elk.json.edgeCoords': 'ROOT',
    };
    if (plain) return needed;
    return {
      ...needed,
      'elk.spacing.nodeNode': '24',
      'elk.layered.spacing.nodeNodeBetweenLayers': '36',
      ...(nodes > VERY_MANY_NODES
        ? { 'elk.layered.layering.strategy': 'LONGEST_PATH_SOURCE', 'elk.layered.crossingMinimization.greedySwitch.type': 'OFF' }
        : {}),
      // It fails in ELK 0.12 with nesting, and is slow with many nodes.
      ...(nested || nodes > VERY_MANY_NODES ? {} : { 'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES' }),
      'elk.layered.thoroughness': nodes > MANY_NODES ? '1' : '7',
      // Prefer straight lines through long networks.
      'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
      'elk.edgeRouting': 'POLYLINE',
    };
  }
}

/** Copy ELK's positions to the drawing, shifted to the right. */
function place(arranged: ElkNode, scene: Scene, drawing: Drawing, right: number): void {
  const visit = (elk: ElkNode, depth: number) => {
    const box = { x: (elk.x ?? 0) + right, y: elk.y ?? 0, width: elk.width ?? 0, height: elk.height ?? 0 };
    const node = scene.nodes.get(elk.id);
    if (node) {
      drawing.nodes.push({ ...box, ...wordsOf(node), open: (elk.children ?? []).length > 0 });
    } else {
      const graph = scene.graphs.find((each) => groupId(each.id) === elk.id);
      if (graph) drawing.groups.push({ ...box, id: graph.id, title: graph.name, depth } satisfies DrawnGroup);
    }
    for (const child of elk.children ?? []) visit(child, node ? depth : depth + 1);
  };
  for (const child of arranged.children ?? []) visit(child, 0);
  for (const edge of arranged.edges ?? []) drawing.edges.push(drawnEdge(edge, scene, right));
  drawing.width = right + (arranged.width ?? 0);
  drawing.height = Math.max(drawing.height, arranged.height ?? 0);
}

function drawnEdge(elk: ElkExtendedEdge, scene: Scene, right: number): DrawnEdge {
  const edge = scene.edges.get(elk.id);
  if (!edge) throw new Error(`ELK returned an unknown edge ${elk.id}`);
  const points: number[] = [];
  for (const section of elk.sections ?? []) {
    for (const point of [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]) {
      points.push(point.x + right, point.y);
    }
  }
  const drawn: DrawnEdge = { from: edge.from, to: edge.to, hint: edge.type ? `${edge.value}: ${edge.type}` : edge.value, points };
  const label = elk.labels?.[0];
  if (label?.text) drawn.label = { text: label.text, x: (label.x ?? 0) + right, y: label.y ?? 0 };
  return drawn;
}

/** The text and style of a node. */
function wordsOf(node: GraphNode): Pick<DrawnNode, 'id' | 'kind' | 'title' | 'detail' | 'hint' | 'category'> {
  const operator = node.kind === 'node';
  const title = operator ? node.op : node.name;
  const rest = operator ? [node.name, node.detail] : [node.kind, node.detail];
  return {
    id: node.id,
    kind: node.kind,
    title: shortened(title, MOST_CHARACTERS),
    detail: shortened(node.detail || (operator ? node.name : ''), MOST_CHARACTERS),
    hint: [title, ...rest].filter(Boolean).join('\n'),
    category: operator ? categoryOf(node.op) : 'value',
  };
}

function sizeOf(node: GraphNode): [width: number, height: number] {
  const { title, detail } = wordsOf(node);
  const width = Math.max(64, textWidth(title), textWidth(detail) - 10);
  return [width, detail ? 2 * LINE_HEIGHT + 10 : LINE_HEIGHT + 12];
}

/** An estimate in pixels, because the fonts are the user's. */
function textWidth(text: string): number {
  return Math.round(Math.min(text.length, MOST_CHARACTERS) * 7.2) + 24;
}

function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

function groupId(graph: string): string {
  return `group ${graph}`;
}

function padding(top: number): string {
  return `[top=${top},left=8,bottom=8,right=8]`;
}
