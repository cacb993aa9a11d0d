// SPDX-License-Identifier: Apache-2.0

/**
 * The state of a graph view: which groups are open, and what is selected. It needs no VS Code: its
 * source may be a language server or data in a page, its view a frame or the page itself.
 */

import type { Details, Drawing, FromView, GraphDocument, Item, Place, Position, Task, ToView, ViewOptions } from './protocol.ts';

export interface GraphRequest {
  /** Groups that the user has opened or closed; others are as the source chooses. */
  opened: string[];
  closed: string[];
  /** Open the groups around this place. */
  position?: Position;
}

/** Where graphs come from. */
export interface GraphSource {
  graph: (request: GraphRequest) => Promise<GraphDocument | null>;
  /** The node at a position in the text, or with an id. */
  place: (wanted: { position: Position } | { id: string }) => Promise<Place | null>;
  details: (id: string) => Promise<Details | null>;
  find: (words: string) => Promise<Place[]>;
}

export interface SessionHost {
  source: GraphSource;
  layout: (task: Task) => Promise<Drawing>;
  post: (message: ToView) => void;
  title: () => string;
  mostNodes: () => number;
  /** How to draw more nodes, if that can be chosen. */
  limit?: string;
  /** The cursor, if the text is visible. */
  cursor: () => Position | undefined;
}

/** How long the last drawing took, in milliseconds. */
export interface Times {
  request: number;
  layout: number;
}

export class Session {
  readonly #host: SessionHost;
  #options: ViewOptions;
  #model: GraphDocument | undefined;
  /** What was laid out last, without places in the text. */
  #laidOut = '';
  readonly #opened = new Set<string>();
  readonly #closed = new Set<string>();
  /** What to show in the next drawing. */
  #focus: Place | undefined;
  /** The node whose details are shown. */
  #detailed: string | undefined;
  #isFirst = true;
  /** Counts selections: an answer to an older question about the cursor is outdated. */
  #selections = 0;
  /** Whether the view chose the selection; then it stays until the cursor moves. */
  #chosen = false;
  readonly times: Times = { request: 0, layout: 0 };

  constructor(host: SessionHost, options: ViewOptions) {
    this.#host = host;
    this.#options = options;
  }

  get model(): GraphDocument | undefined {
    return this.#model;
  }

  /** Draw the newest text; nothing happens if the drawing would be the same. */
  async draw(): Promise<void> {
    const { source, layout, post } = this.#host;
    const start = performance.now();
    const request: GraphRequest = { opened: [...this.#opened], closed: [...this.#closed] };
    const cursor = this.#isFirst ? this.#host.cursor() : undefined;
    const model = await source.graph(cursor ? { ...request, position: cursor } : request);
    this.times.request = performance.now() - start;
    if (!model) throw new Error('The language server does not know this text.');
    this.#model = model;
    if (this.#isFirst && model.here) {
      for (const id of model.here.path) this.#opened.add(id);
      this.#focus = model.here;
    }
    const places = new Set(['range', 'at', 'version', 'here']);
    const shape = JSON.stringify([this.#options, model], (key, value: unknown) => (places.has(key) ? undefined : value));
    if (shape !== this.#laidOut) {
      const before = performance.now();
      // Until this is drawn, the last drawing is outdated: another request may have opened what this closes.
      this.#laidOut = '';
      post({ type: 'busy', text: 'Laying out…' });
      const drawing = await layout({ model, options: this.#options, mostNodes: this.#host.mostNodes() });
      this.times.layout = performance.now() - before;
      this.#laidOut = shape;
      const focus = this.#focus ?? null;
      post({ type: 'drawing', drawing, title: this.#host.title(), options: this.#options, against: model.against ?? null, focus });
      if (drawing.nodes.length === 0) post({ type: 'notice', text: 'There are no nodes in this text.' });
      else if (model.truncated || drawing.omitted > 0) {
        const { limit } = this.#host;
        post({ type: 'notice', text: `Only ${drawing.nodes.length} nodes are drawn${limit === undefined ? '' : ` (${limit})`}.` });
      }
    }
    this.#isFirst = false;
    this.#focus = undefined;
    // Its attributes, types and changes may be others now.
    if (this.#detailed !== undefined) await this.#showDetails(this.#detailed);
  }

  async #showDetails(id: string): Promise<void> {
    this.#detailed = id;
    this.#host.post({ type: 'details', id, details: this.#groupDetails(id) ?? await this.#host.source.details(id) });
  }

  /**
   * Select the node at the cursor.
   *
   * @param moved - whether the cursor moved; if not, the text was drawn again.
   */
  async follow(position: Position, moved = true): Promise<void> {
    if (this.#isFirst || (this.#chosen && !moved)) return;
    this.#chosen = false;
    this.#selections += 1;
    const asked = this.#selections;
    const place = await this.#host.source.place({ position });
    if (asked === this.#selections) this.select(place, moved);
  }

  /** Keep what the view selects until the cursor moves. */
  keep(): void {
    this.#selections += 1;
    this.#chosen = true;
  }

  select(place: Place | null, scroll: boolean): void {
    this.#host.post({ type: 'select', place, scroll });
  }

  /**
   * Handle a message of the view.
   *
   * @returns whether it was for the session.
   */
  async take(message: FromView): Promise<boolean> {
    switch (message.type) {
      case 'toggle':
        await this.#toggle(message.id, message.open);
        return true;
      case 'show':
        await this.#show(message.id);
        return true;
      case 'details':
        await this.#showDetails(message.id);
        return true;
      case 'find':
        this.#host.post({ type: 'found', words: message.words, places: message.words === '' ? [] : await this.#host.source.find(message.words) });
        return true;
      case 'options':
        this.#options = message.options;
        await this.draw();
        return true;
      default:
        return false;
    }
  }

  async #toggle(id: string, open: boolean): Promise<void> {
    const [to, from] = open ? [this.#opened, this.#closed] : [this.#closed, this.#opened];
    to.add(id);
    from.delete(id);
    this.#focus = { path: [id], id };
    await this.draw();
  }

  /** Open what is around a node, and select it. */
  async #show(id: string): Promise<void> {
    this.keep();
    const place = await this.#host.source.place({ id });
    if (!place) return;
    for (const each of place.path) {
      this.#opened.add(each);
      this.#closed.delete(each);
    }
    this.#focus = place;
    await this.draw();
    this.select(place, true);
  }

  /** Groups are described by what the drawing has anyway. */
  #groupDetails(id: string): Details | undefined {
    const group = this.#model?.groups.find((each) => each.id === id);
    const item = this.#item(id);
    if (!group && item?.kind !== 'group') return undefined;
    const operators = item?.operators ?? [];
    const count = group?.count ?? item?.count ?? 0;
    return {
      title: group?.name ?? item?.name ?? '',
      subtitle: [group?.kind ?? item?.detail, `${count} nodes`].filter(Boolean).join(' · '),
      text: id.includes('/') ? id.slice(id.indexOf('/') + 1) : '',
      sections: [
        { title: 'Operators', rows: operators.map(([name, times]) => ({ name, value: String(times) })) },
        { title: 'Changes', rows: (item?.changes ?? []).map((name) => ({ name, value: '' })) },
      ].filter(({ rows }) => rows.length > 0),
    };
  }

  #item(id: string): Item | undefined {
    for (const item of this.#model?.roots ?? []) if (item.id === id) return item;
    for (const { items } of this.#model?.groups ?? []) {
      const found = items.find((each) => each.id === id);
      if (found) return found;
    }
    return undefined;
  }

  /** Where a drawn node is in the text. */
  rangeOf(id: string): Item['range'] | undefined {
    return this.#item(id)?.range ?? this.#model?.groups.find((each) => each.id === id)?.range;
  }
}
