// SPDX-License-Identifier: Apache-2.0

/**
 * The drawing as SVG. The page has only visible elements; at small scales, where text is unreadable,
 * all nodes of a category are one path. So the cost depends on what is visible.
 */

import type { Box, Category, DrawnEdge, DrawnNode, Drawing } from '../graph/protocol.ts';
import { SpatialIndex } from './index.ts';
import { boundsOf, boxPath, roundedLine } from './paths.ts';
import type { View } from './view.ts';

/** Below this scale text is unreadable. */
const READABLE = 0.3;
/** Up to this number, nodes are drawn in full at any scale. */
const FEW = 250;
const NAMESPACE = 'http://www.w3.org/2000/svg';

type Item = { kind: 'node'; node: DrawnNode } | { kind: 'edge'; edge: DrawnEdge };

export function element<K extends keyof SVGElementTagNameMap>(
  name: K, attributes: Record<string, string | number> = {}, ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export class Picture {
  readonly #svg: SVGSVGElement;
  readonly #world = element('g');
  /** Graphs, and nodes with graphs, which are drawn behind the edges. */
  readonly #backdrop = element('g');
  readonly #overview = element('g');
  readonly #edges = element('g');
  readonly #nodes = element('g');
  #drawing: Drawing = { width: 0, height: 0, nodes: [], groups: [], edges: [], omitted: 0 };
  #index = new SpatialIndex<Item>();
  #shown = new Map<Item, SVGElement>();
  #open = new Map<string, SVGElement>();
  #byId = new Map<string, DrawnNode>();
  #selected: string | null = null;
  #matches = new Set<string>();

  constructor(svg: SVGSVGElement) {
    this.#svg = svg;
    const arrow = element('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' },
      element('path', { d: 'M0 0.5L8 4L0 7.5z', class: 'arrow' }));
    svg.append(element('defs', {}, arrow), this.#world);
    this.#world.append(this.#backdrop, this.#overview, this.#edges, this.#nodes);
  }

  get drawing(): Drawing {
    return this.#drawing;
  }

  node(id: string): DrawnNode | undefined {
    return this.#byId.get(id);
  }

  set(drawing: Drawing): void {
    this.#drawing = drawing;
    this.#index = new SpatialIndex<Item>();
    this.#byId = new Map(drawing.nodes.map((node) => [node.id, node]));
    this.#open.clear();
    for (const node of drawing.nodes) {
      if (node.open) this.#open.set(node.id, nodeElement(node));
      else this.#index.add(node, { kind: 'node', node });
    }
    for (const edge of drawing.edges) if (edge.points.length >= 4) this.#index.add(boundsOf(edge.points), { kind: 'edge', edge });
    // Larger boxes are further behind.
    const area = ({ width, height }: Box) => width * height;
    this.#backdrop.replaceChildren(...[
      ...drawing.groups.map((group) => ({ size: area(group), shown: groupElement(group) })),
      ...drawing.nodes.flatMap((node) => {
        const shown = this.#open.get(node.id);
        return shown ? [{ size: area(node), shown }] : [];
      }),
    ].sort((a, b) => b.size - a.size).map(({ shown }) => shown));
    this.#overview.replaceChildren(...overviewOf(drawing));
    this.#clear();
  }

  /** Update the visible elements. */
  show(view: View, width: number, height: number): void {
    this.#world.setAttribute('transform', `translate(${String(view.x)} ${String(view.y)}) scale(${String(view.scale)})`);
    const afar = view.scale < READABLE && this.#drawing.nodes.length > FEW;
    this.#svg.classList.toggle('afar', afar);
    const area = { x: -view.x / view.scale, y: -view.y / view.scale, width: width / view.scale, height: height / view.scale };
    const margin = 100;
    const sight: Box = { x: area.x - margin, y: area.y - margin, width: area.width + 2 * margin, height: area.height + 2 * margin };
    const wanted = afar ? new Set<Item>() : this.#index.within(sight);
    for (const [item, shown] of this.#shown) {
      if (wanted.has(item)) continue;
      shown.remove();
      this.#shown.delete(item);
    }
    for (const item of wanted) {
      if (this.#shown.has(item)) continue;
      const made = item.kind === 'node' ? nodeElement(item.node) : edgeElement(item.edge);
      (item.kind === 'node' ? this.#nodes : this.#edges).append(made);
      this.#shown.set(item, made);
      this.#mark(item, made);
    }
    this.#overview.querySelector('.selected')?.remove();
    const selected = this.#selected === null ? undefined : this.#byId.get(this.#selected);
    if (afar && selected) this.#overview.append(element('path', { d: boxPath(selected), class: 'selected' }));
  }

  /** Highlight a node, its edges, and the results of a search. */
  mark(selected: string | null, matches: Set<string>): void {
    this.#selected = selected;
    this.#matches = matches;
    for (const [item, shown] of this.#shown) this.#mark(item, shown);
    for (const [id, shown] of this.#open) this.#markNode(id, shown);
  }

  #markNode(id: string, shown: SVGElement): void {
    shown.classList.toggle('selected', id === this.#selected);
    shown.classList.toggle('match', this.#matches.has(id));
  }

  #mark(item: Item, shown: SVGElement): void {
    if (item.kind === 'node') {
      this.#markNode(item.node.id, shown);
    } else {
      const near = item.edge.from === this.#selected || item.edge.to === this.#selected;
      shown.classList.toggle('near', near);
    }
  }

  #clear(): void {
    this.#shown.clear();
    this.#nodes.replaceChildren();
    this.#edges.replaceChildren();
  }
}

function groupElement({ x, y, width, height, title, depth }: Drawing['groups'][number]): SVGElement {
  return element('g', { class: `group depth${String(depth % 3)}` },
    element('rect', { x, y, width, height, rx: 6 }),
    element('text', { x: x + 10, y: y + 17 }, title));
}

function nodeElement({ id, x, y, width, height, title, detail, hint, kind, category, open }: DrawnNode): SVGElement {
  const middle = x + width / 2;
  const top = open || detail === '' ? 17 : 15;
  const made = element('g', { class: `node ${kind} ${category}${open ? ' open' : ''}`, 'data-id': id },
    element('title', {}, hint),
    element('rect', { x, y, width, height, rx: kind === 'node' ? 5 : Math.min(height / 2, 16) }),
    element('text', { x: middle, y: y + top, class: 'title' }, title));
  if (detail !== '') made.append(element('text', { x: middle, y: y + top + 15, class: 'detail' }, detail));
  return made;
}

function edgeElement({ from, to, points, hint, label }: DrawnEdge): SVGElement {
  const d = roundedLine(points);
  const made = element('g', { class: 'edge', 'data-from': from, 'data-to': to },
    element('title', {}, hint),
    // A wider invisible line makes the edge easier to point at.
    element('path', { d, class: 'target' }),
    element('path', { d, class: 'line', 'marker-end': 'url(#arrow)' }));
  if (label) made.append(element('text', { x: label.x, y: label.y + 10 }, label.text));
  return made;
}

/** All nodes of a category as one path, all edges as another. */
function overviewOf(drawing: Drawing): SVGElement[] {
  const boxes = new Map<Category, string>();
  for (const node of drawing.nodes) if (!node.open) boxes.set(node.category, (boxes.get(node.category) ?? '') + boxPath(node));
  const lines = drawing.edges.map((edge) => roundedLine(edge.points)).join('');
  return [
    element('path', { d: lines, class: 'lines' }),
    ...Array.from(boxes, ([category, d]) => element('path', { d, class: `boxes ${category}` })),
  ];
}
