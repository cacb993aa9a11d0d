// SPDX-License-Identifier: Apache-2.0

/**
 * Arrange the visible part of a model as a drawing: compute sizes, and get positions from ELK
 * (https://eclipse.dev/elk).
 */

import type { ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js';
import { compose, type VisibleBox, type VisibleEdge } from './compose.ts';
import type { DrawnEdge, Drawing, Task, ViewOptions } from './protocol.ts';
import { MAX_CHARACTERS, shortened, sizeOf, textWidth, type Words, wordsOf } from './words.ts';

export type Layout = (graph: ElkNode) => Promise<ElkNode>;

const TITLE_HEIGHT = 24;
const GAP = 40;
/** The maximum number of edges with types beside them. */
const MAX_LABELS = 300;
/** Above this number of nodes, ELK minimizes crossings less thoroughly; */
const MANY_NODES = 300;
/** above this number, also layers. */
const VERY_MANY_NODES = 1000;

/** Draw the visible part of a model. */
export async function arrange({ model, options, mostNodes }: Task, layout: Layout): Promise<Drawing> {
  const scene = compose(model, mostNodes);
  const drawing: Drawing = { width: 0, height: 0, nodes: [], groups: [], edges: [], omitted: scene.omitted };
  const roots = scene.roots.filter((root) => root.item !== undefined || root.children.length > 0);
  const home = new Map<string, VisibleBox>();
  for (const root of roots) for (const box of boxesOf(root)) home.set(box.id, root);
  for (const root of roots) {
    const edges = scene.edges.filter(({ from, to }) => home.get(from) === root && home.get(to) === root);
    const builder = new Builder(root, edges, options, roots.length > 1);
    const arranged = await layout(builder.elk(false)).catch(
      // ELK 0.12 fails for some graphs, but not with its default options.
      () => layout(builder.elk(true)));
    builder.place(arranged, drawing, drawing.width === 0 ? 0 : drawing.width + GAP);
  }
  return drawing;
}

function boxesOf(box: VisibleBox): VisibleBox[] {
  return [box, ...box.children.flatMap(boxesOf)];
}

/** Converts one root with its contents to ELK's input, and ELK's output to the drawing. */
class Builder {
  readonly #root: VisibleBox;
  readonly #edges: VisibleEdge[];
  readonly #options: ViewOptions;
  readonly #titled: boolean;
  readonly #boxes: Map<string, VisibleBox>;
  readonly #words = new Map<string, Words>();

  constructor(root: VisibleBox, edges: VisibleEdge[], options: ViewOptions, titled: boolean) {
    this.#root = root;
    this.#edges = edges;
    this.#options = options;
    this.#titled = titled;
    this.#boxes = new Map(boxesOf(root).map((box) => [box.id, box]));
  }

  /** @param plain whether to use ELK's defaults for all but the direction. */
  elk(plain: boolean): ElkNode {
    const elk = this.#box(this.#root, true);
    const nested = [...this.#boxes.values()].some((box) => box !== this.#root && box.children.length > 0);
    const options = this.#layoutOptions(this.#boxes.size, nested, plain);
    // Without nesting each level is laid out separately, and inherits no options.
    if (!nested) elk.layoutOptions = { ...options, ...elk.layoutOptions };
    return {
      id: 'root',
      layoutOptions: { ...options, 'elk.padding': padding(0) },
      children: [elk],
      edges: this.#edges.map((edge, at) => this.#edge(edge, String(at))),
    };
  }

  #box(box: VisibleBox, outermost: boolean): ElkNode {
    const children = box.children.map((child) => this.#box(child, false));
    if (!box.item) {
      const title = outermost && !this.#titled ? '' : titleOf(box);
      return {
        id: box.id,
        layoutOptions: {
          'elk.padding': padding(title === '' ? 8 : TITLE_HEIGHT + 6),
          'elk.nodeSize.constraints': 'MINIMUM_SIZE',
          'elk.nodeSize.minimum': `(${title === '' ? 0 : textWidth(title) + 12}, 0)`,
        },
        children,
      };
    }
    const words = wordsOf(box.item, this.#options.constants, new Set(box.children.map(({ id }) => id)));
    this.#words.set(box.id, words);
    const [width, height] = sizeOf(words);
    if (children.length === 0) return { id: box.id, width, height };
    return {
      id: box.id,
      layoutOptions: {
        'elk.padding': padding(height + 4),
        'elk.nodeSize.constraints': 'MINIMUM_SIZE',
        'elk.nodeSize.minimum': `(${width}, ${height})`,
      },
      children,
    };
  }

  #edge(edge: VisibleEdge, id: string): ElkExtendedEdge {
    const made = { id, sources: [edge.from], targets: [edge.to] };
    if (this.#edges.length > MAX_LABELS) return made;
    const text = shortened(edge.values.length > 1 ? `${edge.values.length} values` : edge.type ?? '', MAX_CHARACTERS);
    return text === '' ? made : { ...made, labels: [{ text, width: text.length * 5.6 + 4, height: 12 }] };
  }

  #layoutOptions(nodes: number, nested: boolean, plain: boolean): LayoutOptions {
    const needed: LayoutOptions = {
      'elk.algorithm': 'layered',
      'elk.direction': this.#options.direction === 'down' ? 'DOWN' : 'RIGHT',
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

  /** Copy ELK's positions to the drawing, shifted to the right. */
  place(arranged: ElkNode, drawing: Drawing, right: number): void {
    const visit = (elk: ElkNode, depth: number) => {
      const place = { x: (elk.x ?? 0) + right, y: elk.y ?? 0, width: elk.width ?? 0, height: elk.height ?? 0 };
      const box = this.#boxes.get(elk.id);
      const words = this.#words.get(elk.id);
      if (words) {
        drawing.nodes.push({ ...place, ...words, open: (elk.children ?? []).length > 0 });
      } else if (box?.group) {
        const outermost = box === this.#root;
        const change = changeOf(box);
        drawing.groups.push({
          ...place, id: box.id, title: outermost && !this.#titled ? '' : titleOf(box), hint: hintOf(box), depth,
          closable: !outermost || this.#titled, ...(change ? { change } : {}),
        });
      }
      for (const child of elk.children ?? []) visit(child, words ? depth : depth + 1);
    };
    for (const child of arranged.children ?? []) visit(child, 0);
    for (const edge of arranged.edges ?? []) drawing.edges.push(this.#drawn(edge, right));
    drawing.width = right + (arranged.width ?? 0);
    drawing.height = Math.max(drawing.height, arranged.height ?? 0);
  }

  #drawn(elk: ElkExtendedEdge, right: number): DrawnEdge {
    const edge = this.#edges[Number(elk.id)];
    if (!edge) throw new Error(`ELK returned an unknown edge ${elk.id}`);
    const points: number[] = [];
    for (const section of elk.sections ?? []) {
      for (const point of [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]) {
        points.push(point.x + right, point.y);
      }
    }
    const [value] = edge.values;
    const hint = edge.values.length > 1 ? edge.values.join('\n') : edge.type ? `${value}: ${edge.type}` : value ?? '';
    const drawn: DrawnEdge = { from: edge.from, to: edge.to, hint, points, ...(edge.change ? { change: edge.change } : {}) };
    const label = elk.labels?.[0];
    if (label?.text) drawn.label = { text: label.text, x: (label.x ?? 0) + right, y: label.y ?? 0 };
    return drawn;
  }
}

function titleOf({ group }: VisibleBox): string {
  return group ? [group.name, group.kind].filter(Boolean).join(' · ') : '';
}

function hintOf({ group }: VisibleBox): string {
  return group ? `${group.name}\n${group.kind ? `${group.kind}\n` : ''}${group.graph ? 'graph' : 'group'} of ${group.count} nodes, open` : '';
}

/** The change of a group: that of all its members. */
function changeOf(box: VisibleBox): Words['change'] {
  const changes = new Set(box.children.map((child) => child.item?.change ?? (child.group ? changeOf(child) : undefined)));
  return changes.size === 1 ? [...changes][0] : undefined;
}

function padding(top: number): string {
  return `[top=${top},left=8,bottom=8,right=8]`;
}
