// SPDX-License-Identifier: Apache-2.0

/** The graph view: messages, search, selection, keys. It needs no VS Code. */

import type { DrawnGroup, DrawnNode, FromView, Place, Row, ToView, ViewOptions } from '../graph/protocol.ts';
import { showDetails } from './details.ts';
import { buildPage } from './page.ts';
import { Picture } from './picture.ts';
import { centered, fitting, handle, showing, type View, zoomed } from './view.ts';

/** The initial scale of drawings that do not fit readably. */
const FIRST_SCALE = 0.75;
/** It may be smaller if the whole width is visible then. */
const WIDTH_SCALE = 0.6;
/** A drawing or group is fitted into the window down to this scale. */
const MIN_SCALE = 0.5;

/** The other end: the extension, or a session in the same page. */
export interface ViewHost {
  send: (message: FromView) => void;
  receive: (take: (message: ToView) => void) => void;
}

export function startView(host: ViewHost, root: HTMLElement = document.body): void {
  new App(host, root);
}

class App {
  readonly #host: ViewHost;
  readonly #page: ReturnType<typeof buildPage>;
  readonly #picture: Picture;
  #view: View = { x: 0, y: 0, scale: 1 };
  #selected: string | null = null;
  #options: ViewOptions = { direction: 'down', constants: true };
  #title: string | undefined;
  /** The places that a search has found, and the drawn boxes around them. */
  #found: Place[] = [];
  #words = '';
  #at = -1;
  #frame = 0;
  #panel = true;

  constructor(host: ViewHost, root: HTMLElement) {
    this.#host = host;
    this.#page = buildPage(root);
    this.#picture = new Picture(this.#page.svg);
    host.receive((message) => { this.#take(message); });
    this.#listen();
    showDetails(this.#page.details, null);
    host.send({ type: 'ready' });
  }

  get #width(): number {
    return this.#page.svg.clientWidth;
  }

  get #height(): number {
    return this.#page.svg.clientHeight;
  }

  // ---- Messages -------------------------------------------------------------------------------

  #take(message: ToView): void {
    const { notice } = this.#page;
    switch (message.type) {
      case 'drawing':
        this.#draw(message);
        break;
      case 'select':
        this.#select(this.#visible(message.place), message.scroll);
        break;
      case 'details':
        if (message.id === this.#selected) showDetails(this.#page.details, message.details);
        break;
      case 'found':
        if (message.words === this.#words) this.#takeFound(message.places);
        break;
      case 'busy':
      case 'notice':
        notice.textContent = message.text;
        notice.hidden = false;
        break;
    }
  }

  #draw(message: Extract<ToView, { type: 'drawing' }>): void {
    const start = performance.now();
    const first = this.#title !== message.title || this.#options.direction !== message.options.direction;
    const { constants, direction, notice, against } = this.#page;
    const anchor = this.#anchor();
    this.#title = message.title;
    this.#options = message.options;
    constants.checked = this.#options.constants;
    direction.textContent = this.#options.direction === 'down' ? '⤵' : '⤷';
    against.textContent = message.against === null ? '' : `vs. ${message.against}`;
    against.title = message.against === null ? '' : `compared with ${message.against}`;
    this.#page.svg.classList.toggle('comparing', message.against !== null);
    notice.hidden = true;
    this.#picture.set(message.drawing);
    const focus = this.#visible(message.focus);
    // The panel takes its room before the view is chosen.
    if (focus !== null) this.#page.details.hidden = !this.#panel;
    if (first) this.#view = this.#opening(focus);
    else if (focus !== null) this.#view = this.#around(focus);
    else if (anchor) this.#view = this.#anchored(anchor);
    this.#select(focus ?? this.#selected, false);
    this.#picture.show(this.#view, this.#width, this.#height);
    requestAnimationFrame(() => {
      // After this frame is painted.
      setTimeout(() => {
        const { nodes, edges } = message.drawing;
        this.#host.send({ type: 'drawn', nodes: nodes.length, edges: edges.length, milliseconds: performance.now() - start });
      });
    });
  }

  /** The view of a new drawing: everything if that is readable, else what surrounds the cursor. */
  #opening(focus: string | null): View {
    const { drawing } = this.#picture;
    const fitsWidth = (this.#width - 24) / Math.max(1, drawing.width);
    const whole = fitting(drawing, this.#width, this.#height, Math.max(WIDTH_SCALE, Math.min(FIRST_SCALE, fitsWidth)));
    if (whole.scale > FIRST_SCALE) return whole;
    if (focus !== null) {
      this.#view = { ...this.#view, scale: FIRST_SCALE };
      return this.#around(focus);
    }
    const [flow, across] = this.#options.direction === 'down' ? (['y', 'x'] as const) : (['x', 'y'] as const);
    const first = drawing.nodes.reduce<DrawnNode | undefined>((best, node) => (!best || node[flow] < best[flow] ? node : best), undefined);
    if (!first || drawing.width * whole.scale <= this.#width) return whole;
    const [box, window] = across === 'x' ? [first.x + first.width / 2, this.#width] : [first.y + first.height / 2, this.#height];
    return { ...whole, [across]: window / 2 - box * whole.scale };
  }

  /** A view of a node or group, with as much of what surrounds it as is readable. */
  #around(id: string): View {
    const group = this.#picture.group(id);
    const node = this.#picture.node(id);
    const box = group ?? node;
    if (!box) return this.#view;
    const holder = group ?? this.#picture.holder(id);
    if (holder) {
      const fitted = centered(holder, this.#width, this.#height, 1);
      if (fitted.scale >= MIN_SCALE) return fitted;
    }
    const scale = Math.max(FIRST_SCALE, Math.min(this.#view.scale, 1));
    return centered({ ...box, height: Math.min(box.height, this.#height / scale) }, this.#width, this.#height, scale, scale);
  }

  /** The selected or first visible node, which stays where it is when the drawing changes. */
  #anchor(): { id: string; x: number; y: number } | undefined {
    const box = this.#selected === null ? undefined : this.#picture.box(this.#selected);
    return box && this.#selected !== null ? { id: this.#selected, x: box.x, y: box.y } : undefined;
  }

  #anchored({ id, x, y }: { id: string; x: number; y: number }): View {
    const box = this.#picture.box(id);
    if (!box) return this.#view;
    const { scale } = this.#view;
    return { scale, x: this.#view.x + (x - box.x) * scale, y: this.#view.y + (y - box.y) * scale };
  }

  /** The drawn box of a place: its node, or the innermost group around that is drawn. */
  #visible(place: Place | null): string | null {
    if (!place) return null;
    return [place.id, ...[...place.path].reverse()].find((id) => this.#picture.box(id) !== undefined) ?? null;
  }

  // ---- Showing --------------------------------------------------------------------------------

  #refresh(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#picture.show(this.#view, this.#width, this.#height);
    });
  }

  #look(view: View): void {
    this.#view = view;
    this.#refresh();
  }

  #select(id: string | null, scroll: boolean): void {
    const box = id === null ? undefined : this.#picture.box(id);
    const next = box ? id : null;
    if (next !== this.#selected || next === null) {
      if (next === null) showDetails(this.#page.details, null);
      else if (this.#panel) this.#host.send({ type: 'details', id: next });
    }
    this.#selected = next;
    this.#page.details.hidden = !this.#panel || next === null;
    this.#mark();
    this.#page.announced.textContent = box?.hint.replaceAll('\n', ', ') ?? '';
    if (next === null) this.#page.svg.removeAttribute('aria-activedescendant');
    else this.#page.svg.setAttribute('aria-activedescendant', `box-${next}`);
    if (box && scroll) this.#look(showing(this.#view, box, this.#width, this.#height));
    else this.#refresh();
  }

  #mark(): void {
    const matches = new Set(this.#found.map((place) => this.#visible(place)).filter((id) => id !== null));
    this.#picture.mark(this.#selected, matches);
  }

  /** Select a node here and in the text. */
  #pick(id: string, focus: boolean): void {
    this.#select(id, true);
    this.#host.send({ type: 'reveal', id, focus });
  }

  #toggle(id: string, open: boolean): void {
    this.#host.send({ type: 'toggle', id, open });
  }

  // ---- Pointer --------------------------------------------------------------------------------

  #listen(): void {
    const { svg, constants, direction, panel, fit } = this.#page;
    handle(svg, () => this.#view, (view) => { this.#look(view); });
    svg.addEventListener('click', (event) => { this.#click(event); });
    svg.addEventListener('dblclick', (event) => {
      const id = idAt(event, '.node');
      if (id !== undefined && this.#picture.node(id)?.kind !== 'group') this.#pick(id, true);
    });
    this.#page.compare.addEventListener('click', () => { this.#host.send({ type: 'compare' }); });
    this.#page.in.addEventListener('click', () => { this.#zoom(1.3); });
    this.#page.out.addEventListener('click', () => { this.#zoom(1 / 1.3); });
    fit.addEventListener('click', () => { this.#fit(); });
    panel.addEventListener('click', () => { this.#togglePanel(); });
    constants.addEventListener('change', () => { this.#host.send({ type: 'options', options: { ...this.#options, constants: constants.checked } }); });
    direction.addEventListener('click', () => {
      this.#host.send({ type: 'options', options: { ...this.#options, direction: this.#options.direction === 'down' ? 'right' : 'down' } });
    });
    svg.addEventListener('keydown', (event) => { this.#key(event); });
    this.#listenToSearch();
    new ResizeObserver(() => { this.#refresh(); }).observe(svg);
  }

  #click(event: MouseEvent): void {
    const row = under(event).map((each) => each.closest('.row')).find((each) => each !== null);
    const id = idAt(event, '.node, .head');
    const node = id === undefined ? undefined : this.#picture.node(id);
    if (id === undefined || !node) {
      if (id !== undefined && this.#picture.group(id)) this.#toggle(id, false);
      return;
    }
    const number = row instanceof SVGElement ? Number(row.dataset.row) : NaN;
    const chosen = node.rows[number];
    if (chosen && this.#openRow(chosen)) return;
    if (node.kind === 'group') this.#toggle(id, true);
    else this.#pick(id, false);
  }

  /** Go where a row leads. */
  #openRow(row: Row): boolean {
    if (row.opens !== undefined) this.#toggle(row.opens, true);
    else if (row.from !== undefined) this.#host.send({ type: 'show', id: row.from });
    else if (row.at) this.#host.send({ type: 'revealAt', at: row.at });
    else return false;
    return true;
  }

  #zoom(factor: number): void {
    this.#look(zoomed(this.#view, factor, this.#width / 2, this.#height / 2));
  }

  #fit(): void {
    this.#look(fitting(this.#picture.drawing, this.#width, this.#height));
  }

  #togglePanel(): void {
    const { panel, details } = this.#page;
    this.#panel = !this.#panel;
    panel.setAttribute('aria-pressed', String(this.#panel));
    details.hidden = !this.#panel || this.#selected === null;
    if (this.#panel && this.#selected !== null) this.#host.send({ type: 'details', id: this.#selected });
  }

  // ---- Keys -----------------------------------------------------------------------------------

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const down = this.#options.direction === 'down';
    const actions: Partial<Record<string, () => void>> = {
      '+': () => { this.#zoom(1.3); },
      '=': () => { this.#zoom(1.3); },
      '-': () => { this.#zoom(1 / 1.3); },
      0: () => { this.#fit(); },
      i: () => { this.#togglePanel(); },
      '/': () => { this.#page.search.focus(); },
      Enter: () => { if (this.#selected !== null) this.#pick(this.#selected, true); },
      ' ': () => { this.#openSelected(); },
      Backspace: () => { this.#closeAround(); },
      Escape: () => { this.#select(null, false); },
      ArrowDown: () => { this.#step(down ? this.#along(1) : this.#beside(1)); },
      ArrowUp: () => { this.#step(down ? this.#along(-1) ?? this.#holder() : this.#beside(-1)); },
      ArrowRight: () => { this.#step(down ? this.#beside(1) : this.#along(1)); },
      ArrowLeft: () => { this.#step(down ? this.#beside(-1) : this.#along(-1) ?? this.#holder()); },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** Open the selected group, close it if it is open, or open the first graph of the node. */
  #openSelected(): void {
    if (this.#selected === null) return;
    const node = this.#picture.node(this.#selected);
    const body = node?.rows.find((row) => row.opens !== undefined);
    if (this.#picture.group(this.#selected)) this.#toggle(this.#selected, false);
    else if (node?.kind === 'group') this.#toggle(node.id, true);
    else if (body) this.#openRow(body);
  }

  #closeAround(): void {
    const group = this.#selected === null ? undefined : this.#holder();
    if (group && this.#picture.group(group.id)?.closable) this.#toggle(group.id, false);
  }

  #holder(): DrawnGroup | undefined {
    return this.#selected === null ? undefined : this.#picture.holder(this.#selected);
  }

  #step(box: DrawnNode | DrawnGroup | undefined): void {
    if (box) this.#pick(box.id, false);
  }

  /** The node that an edge leads to (1) or comes from (-1); the first node if none is selected. */
  #along(way: -1 | 1): DrawnNode | undefined {
    if (this.#selected === null) return this.#picture.drawing.nodes[0];
    const edge = this.#picture.drawing.edges.find((each) => (way === 1 ? each.from : each.to) === this.#selected);
    if (edge) return this.#picture.node(way === 1 ? edge.to : edge.from);
    // An open group: its first node.
    return way === 1 && this.#picture.group(this.#selected) ? this.#picture.first(this.#selected) : undefined;
  }

  /** The nearest node to the right or left, or below or above if the data flows to the right. */
  #beside(way: -1 | 1): DrawnNode | undefined {
    const here = this.#selected === null ? undefined : this.#picture.box(this.#selected);
    if (!here) return this.#picture.drawing.nodes[0];
    const [flow, across] = this.#options.direction === 'down' ? (['y', 'x'] as const) : (['x', 'y'] as const);
    const distance = (node: DrawnNode) => Math.abs(node[flow] - here[flow]) * 4 + Math.abs(node[across] - here[across]);
    return this.#picture.drawing.nodes
      .filter((node) => (node[across] - here[across]) * way > 1)
      .reduce<DrawnNode | undefined>((best, node) => (!best || distance(node) < distance(best) ? node : best), undefined);
  }

  // ---- Search ---------------------------------------------------------------------------------

  #listenToSearch(): void {
    const { search, svg } = this.#page;
    search.addEventListener('input', () => {
      this.#words = search.value.trim();
      this.#at = -1;
      this.#host.send({ type: 'find', words: this.#words });
    });
    search.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') svg.focus();
      if (event.key !== 'Enter' || this.#found.length === 0) return;
      this.#at = (this.#at + (event.shiftKey ? this.#found.length - 1 : 1)) % this.#found.length;
      const place = this.#found[this.#at];
      if (place) this.#host.send({ type: 'show', id: place.id });
    });
  }

  #takeFound(places: Place[]): void {
    this.#found = places;
    this.#page.matches.textContent = this.#words === '' ? '' : String(places.length);
    this.#mark();
    const first = this.#visible(places[0] ?? null);
    const box = first === null ? undefined : this.#picture.box(first);
    if (box) this.#look(showing(this.#view, box, this.#width, this.#height));
  }
}

/** The elements under the pointer. Edges, which may lie above nodes and titles, cannot be chosen. */
function under(event: MouseEvent): Element[] {
  return document.elementsFromPoint(event.clientX, event.clientY);
}

function idAt(event: MouseEvent, selector: string): string | undefined {
  for (const each of under(event)) {
    const found = each.closest(selector);
    if (found instanceof SVGElement) return found.dataset.id;
  }
  return undefined;
}
