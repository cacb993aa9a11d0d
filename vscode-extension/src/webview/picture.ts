// SPDX-License-Identifier: Apache-2.0

/**
 * The drawing as SVG. The page has only visible elements; at small scales, where text is unreadable,
 * all nodes of a category are one path. So the cost depends on what is visible.
 */

import { LINE, ROW } from '../graph/words.ts';
import type { Box, Category, DrawnEdge, DrawnGroup, DrawnNode, Drawing } from '../graph/protocol.ts';
import { SpatialIndex } from './index.ts';
import { boundsOf, boxPath, roundedLine } from './paths.ts';
import { element } from './svg.ts';
import type { View } from './view.ts';

/** Below this scale text is unreadable. */
const READABLE = 0.3;
/** Up to this number, nodes are drawn in full at any scale. */
const FEW = 250;

type Item = { kind: 'node'; node: DrawnNode } | { kind: 'edge'; edge: DrawnEdge };

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
  /** Open groups, and nodes with open graphs. */
  #open = new Map<string, SVGElement>();
  #byId = new Map<string, DrawnNode>();
  #groups = new Map<string, DrawnGroup>();
  #selected: string | null = null;
  #matches = new Set<string>();

  constructor(svg: SVGSVGElement) {
    this.#svg = svg;
    const arrow = element('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse' },
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

  group(id: string): DrawnGroup | undefined {
    return this.#groups.get(id);
  }

  /** A node or an open group. */
  box(id: string): DrawnNode | DrawnGroup | undefined {
    return this.#byId.get(id) ?? this.#groups.get(id);
  }

  /** The innermost open group around a node or group. */
  holder(id: string): DrawnGroup | undefined {
    const box = this.box(id);
    if (!box) return undefined;
    return this.#drawing.groups
      .filter((group) => group.id !== id && contains(group, box))
      .reduce<DrawnGroup | undefined>((best, group) => (!best || group.width * group.height < best.width * best.height ? group : best), undefined);
  }

  /** The first node in an open group. */
  first(id: string): DrawnNode | undefined {
    const group = this.#groups.get(id);
    return group && this.#drawing.nodes.find((node) => contains(group, node));
  }

  set(drawing: Drawing): void {
    this.#drawing = drawing;
    this.#index = new SpatialIndex<Item>();
    this.#byId = new Map(drawing.nodes.map((node) => [node.id, node]));
    this.#groups = new Map(drawing.groups.map((group) => [group.id, group]));
    this.#open.clear();
    for (const group of drawing.groups) this.#open.set(group.id, groupElement(group));
    for (const node of drawing.nodes) {
      if (node.open) this.#open.set(node.id, nodeElement(node));
      else this.#index.add(node, { kind: 'node', node });
    }
    for (const edge of drawing.edges) if (edge.points.length >= 4) this.#index.add(boundsOf(edge.points), { kind: 'edge', edge });
    // Larger boxes are further behind.
    const area = ({ width, height }: Box) => width * height;
    this.#backdrop.replaceChildren(...[
      ...[...drawing.groups, ...drawing.nodes].flatMap((box) => {
        const shown = this.#open.get(box.id);
        return shown ? [{ size: area(box), shown }] : [];
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
    const selected = this.#selected === null ? undefined : this.box(this.#selected);
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

function contains(outer: Box, inner: Box): boolean {
  return outer.x <= inner.x && outer.y <= inner.y
    && inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height;
}

function groupElement({ id, x, y, width, height, title, hint, depth, closable, change }: DrawnGroup): SVGElement {
  const made = element('g', { class: ['group', `depth${String(depth % 3)}`, change ?? ''].join(' ').trim(), id: `box-${id}`, 'data-id': id },
    element('rect', { x, y, width, height, rx: 6, class: 'frame' }));
  if (closable && title !== '') {
    made.append(element('g', { class: 'head', 'data-id': id, role: 'button', 'aria-expanded': 'true', 'aria-label': hint.replaceAll('\n', ', ') },
      element('title', {}, `${hint}\nClick to close`),
      element('rect', { x: x + 1, y: y + 1, width: Math.max(0, width - 2), height: 23, rx: 5 }),
      element('text', { x: x + 10, y: y + 17 }, `▾ ${title}`)));
  } else if (title !== '') {
    made.append(element('text', { x: x + 10, y: y + 17 }, title));
  }
  return made;
}

function nodeElement(node: DrawnNode): SVGElement {
  const { id, x, y, width, height, title, detail, hint, kind, category, open, rows, shared, change } = node;
  const middle = x + width / 2;
  const top = detail === '' ? 17 : LINE;
  const classes = ['node', kind, category, open ? 'open' : '', shared ? 'shared' : '', change ?? ''];
  const made = element('g', {
    class: classes.filter(Boolean).join(' '), id: `box-${id}`, 'data-id': id, role: kind === 'group' ? 'button' : 'img',
    'aria-label': hint.replaceAll('\n', ', '), ...(kind === 'group' ? { 'aria-expanded': 'false' } : {}),
  }, element('title', {}, kind === 'group' ? `${hint}\nClick to open` : hint));
  if (kind === 'group') made.append(element('rect', { x: x + 4, y: y + 4, width, height, rx: 5, class: 'behind' }));
  made.append(
    element('rect', { x, y, width, height, rx: kind === 'node' || kind === 'group' ? 5 : Math.min(height / 2, 16), class: 'frame' }),
    element('text', { x: middle, y: y + top, class: 'title' }, kind === 'group' ? `▸ ${title}` : title));
  if (detail !== '') made.append(element('text', { x: middle, y: y + top + LINE, class: 'detail' }, detail));
  if (shared) made.append(element('text', { x: x + width - 10, y: y + 13, class: 'many' }, '⋔'));
  const first = y + top + (detail === '' ? 0 : LINE) + ROW + 3;
  rows.forEach(({ name, value, kind: sort }, number) => {
    const line = first + number * ROW;
    const row = element('g', { class: `row ${sort}`, 'data-row': number },
      element('rect', { x: x + 3, y: line - 11, width: width - 6, height: ROW, rx: 3 }));
    if (name !== '') row.append(element('text', { x: x + 9, y: line, class: 'name' }, name));
    row.append(name === ''
      ? element('text', { x: middle, y: line, class: 'value alone' }, value)
      : element('text', { x: x + width - 9, y: line, class: 'value' }, value));
    made.append(row);
  });
  return made;
}

function edgeElement({ from, to, points, hint, label, change }: DrawnEdge): SVGElement {
  const d = roundedLine(points);
  const made = element('g', { class: `edge${change ? ` ${change}` : ''}`, 'data-from': from, 'data-to': to },
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
