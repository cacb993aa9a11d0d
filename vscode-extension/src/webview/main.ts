// SPDX-License-Identifier: Apache-2.0

/** The script of the graph view's page: messages, search, selection, keys. */

import type { DrawnNode, FromView, ToView, ViewOptions } from '../graph/protocol.ts';
import { Picture } from './picture.ts';
import { fitting, handle, showing, type View, zoomed } from './view.ts';

/** The initial scale of drawings that do not fit readably. */
const FIRST_SCALE = 0.5;

const vscode = acquireVsCodeApi<{ uri: string }>();
const send = (message: FromView) => { vscode.postMessage(message); };

function find<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page lacks #${id}`);
  return found;
}
const svg = find('picture', SVGSVGElement);
const search = find('search', HTMLInputElement);
const matchCount = find('matches', HTMLElement);
const notice = find('notice', HTMLElement);
const announced = find('selection', HTMLElement);
const initializers = find('initializers', HTMLInputElement);
const direction = find('direction', HTMLButtonElement);

const picture = new Picture(svg);
let view: View = { x: 0, y: 0, scale: 1 };
let selected: string | null = null;
let options: ViewOptions = { direction: 'down', initializers: false };
let title = '';
let matches: string[] = [];
let frame = 0;

vscode.setState({ uri: document.body.dataset.document ?? '' });

// ---- Showing ----------------------------------------------------------------------------------

const width = () => svg.clientWidth;
const height = () => svg.clientHeight;

function refresh(): void {
  if (frame === 0) {
    frame = requestAnimationFrame(() => {
      frame = 0;
      picture.show(view, width(), height());
    });
  }
}

function look(next: View): void {
  view = next;
  refresh();
}

function select(id: string | null, scroll: boolean): void {
  selected = id !== null && picture.node(id) ? id : null;
  picture.mark(selected, new Set(matches));
  const node = selected === null ? undefined : picture.node(selected);
  announced.textContent = node?.hint.replaceAll('\n', ', ') ?? '';
  if (node && scroll) look(showing(view, node, width(), height()));
  else refresh();
}

/** Select a node here and in the text. */
function pick(id: string, focus: boolean): void {
  select(id, true);
  send({ type: 'reveal', id, focus });
}

function takeDrawing(message: Extract<ToView, { type: 'drawing' }>): void {
  const start = performance.now();
  const first = picture.drawing.nodes.length === 0 || title !== message.title || options.direction !== message.options.direction;
  ({ title, options } = message);
  initializers.checked = options.initializers;
  direction.textContent = options.direction === 'down' ? '⤵' : '⤷';
  notice.hidden = true;
  picture.set(message.drawing);
  if (first) view = fitting(message.drawing, width(), height(), FIRST_SCALE);
  select(selected, false);
  picture.show(view, width(), height());
  requestAnimationFrame(() => {
    // After this frame is painted.
    setTimeout(() => {
      send({ type: 'drawn', nodes: message.drawing.nodes.length, edges: message.drawing.edges.length, milliseconds: performance.now() - start });
    });
  });
}

window.addEventListener('message', ({ data }: MessageEvent<ToView>) => {
  switch (data.type) {
    case 'drawing':
      takeDrawing(data);
      break;
    case 'select':
      select(data.id, data.scroll);
      break;
    case 'busy':
    case 'notice':
      notice.textContent = data.text;
      notice.hidden = false;
      break;
  }
});

// ---- Pointer ----------------------------------------------------------------------------------

handle(svg, () => view, look);
svg.addEventListener('click', (event) => {
  const id = nodeUnder(event);
  if (id !== undefined) pick(id, false);
});
svg.addEventListener('dblclick', (event) => {
  const id = nodeUnder(event);
  if (id !== undefined) pick(id, true);
});

function nodeUnder(event: MouseEvent): string | undefined {
  const found = event.target instanceof Element ? event.target.closest('.node') : null;
  return found instanceof SVGElement ? found.dataset.id : undefined;
}

const middle = (factor: number) => { look(zoomed(view, factor, width() / 2, height() / 2)); };
const fit = () => { look(fitting(picture.drawing, width(), height())); };
find('in', HTMLButtonElement).addEventListener('click', () => { middle(1.3); });
find('out', HTMLButtonElement).addEventListener('click', () => { middle(1 / 1.3); });
find('fit', HTMLButtonElement).addEventListener('click', fit);
initializers.addEventListener('change', () => { send({ type: 'options', options: { ...options, initializers: initializers.checked } }); });
direction.addEventListener('click', () => {
  send({ type: 'options', options: { ...options, direction: options.direction === 'down' ? 'right' : 'down' } });
});
new ResizeObserver(refresh).observe(svg);

// ---- Keys -------------------------------------------------------------------------------------

svg.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const actions: Partial<Record<string, () => void>> = {
    '+': () => { middle(1.3); },
    '=': () => { middle(1.3); },
    '-': () => { middle(1 / 1.3); },
    0: fit,
    '/': () => { search.focus(); },
    Enter: () => { if (selected !== null) pick(selected, true); },
    Escape: () => { select(null, false); },
    ArrowDown: () => { step(along(options.direction === 'down' ? 1 : 0)); },
    ArrowUp: () => { step(along(options.direction === 'down' ? -1 : 0) ?? beside(-1)); },
    ArrowRight: () => { step(options.direction === 'right' ? along(1) : beside(1)); },
    ArrowLeft: () => { step(options.direction === 'right' ? along(-1) : beside(-1)); },
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

function step(node: DrawnNode | undefined): void {
  if (node) pick(node.id, false);
}

/** The node that an edge leads to (1) or comes from (-1); the first node if none is selected. */
function along(way: -1 | 0 | 1): DrawnNode | undefined {
  if (selected === null) return picture.drawing.nodes[0];
  if (way === 0) return beside(1);
  const edge = picture.drawing.edges.find((each) => (way === 1 ? each.from : each.to) === selected);
  return edge && picture.node(way === 1 ? edge.to : edge.from);
}

/** The nearest node to the right or left, or below or above if the data flows to the right. */
function beside(way: -1 | 1): DrawnNode | undefined {
  const here = selected === null ? undefined : picture.node(selected);
  if (!here) return picture.drawing.nodes[0];
  const [flow, across] = options.direction === 'down' ? (['y', 'x'] as const) : (['x', 'y'] as const);
  const distance = (node: DrawnNode) => Math.abs(node[flow] - here[flow]) * 4 + Math.abs(node[across] - here[across]);
  return picture.drawing.nodes
    .filter((node) => (node[across] - here[across]) * way > 1)
    .reduce<DrawnNode | undefined>((best, node) => (!best || distance(node) < distance(best) ? node : best), undefined);
}

// ---- Search -----------------------------------------------------------------------------------

search.addEventListener('input', () => {
  const words = search.value.trim().toLowerCase();
  matches = words === '' ? [] : picture.drawing.nodes.filter((node) => node.hint.toLowerCase().includes(words)).map((node) => node.id);
  matchCount.textContent = words === '' ? '' : String(matches.length);
  picture.mark(selected, new Set(matches));
  const first = matches[0] === undefined ? undefined : picture.node(matches[0]);
  if (first) look(showing(view, first, width(), height()));
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') svg.focus();
  if (event.key !== 'Enter' || matches.length === 0) return;
  const here = selected === null ? -1 : matches.indexOf(selected);
  const next = matches[(here + (event.shiftKey ? matches.length - 1 : 1)) % matches.length] ?? matches[0];
  if (next !== undefined) pick(next, false);
});

send({ type: 'ready' });
