// SPDX-License-Identifier: Apache-2.0

/** Answer the requests of a graph from data in the page, as the language server would. */

import type { Details, Group, GraphDocument, Place, Position } from '../graph/protocol.ts';
import type { GraphRequest, GraphSource } from '../graph/session.ts';
import type { GraphData } from './data.ts';

/** As the server: larger drawings are unreadable. */
const MAX_ITEMS = 5000;
const MAX_FOUND = 500;

export class PageSource implements GraphSource {
  readonly #data: GraphData;
  readonly #groups: Map<string, Group>;
  /** The group around an item, or the node that holds a graph. */
  readonly #around = new Map<string, string>();
  readonly #open: Set<string>;

  constructor(data: GraphData) {
    this.#data = data;
    this.#groups = new Map(data.document.groups.map((group) => [group.id, group]));
    this.#open = new Set(data.open);
    for (const { id, parent, items } of data.document.groups) {
      if (parent !== null) this.#around.set(id, parent);
      for (const item of items) this.#around.set(item.id, id);
    }
  }

  graph({ opened, closed, position }: GraphRequest): Promise<GraphDocument> {
    const here = position ? this.placeAt(position) : null;
    const [toOpen, toClose] = [new Set([...opened, ...(here?.path ?? [])]), new Set(closed)];
    for (const id of here?.path ?? []) toClose.delete(id);
    const shown = new Set<string>();
    const groups: Group[] = [];
    let room = MAX_ITEMS;
    let truncated = false;
    // Groups are ordered: outer ones first.
    for (const group of this.#data.document.groups) {
      if (!this.#isShown(group, shown) || toClose.has(group.id)) continue;
      if (!toOpen.has(group.id) && !this.#open.has(group.id)) continue;
      if (group.items.length > room) {
        truncated = true;
        continue;
      }
      room -= group.items.length;
      shown.add(group.id);
      groups.push(group);
    }
    return Promise.resolve({ ...this.#data.document, groups, truncated, here });
  }

  /** Whether the group around a group is open. */
  #isShown({ parent }: Group, shown: Set<string>): boolean {
    if (parent === null || shown.has(parent)) return true;
    return !this.#groups.has(parent) && shown.has(this.#around.get(parent) ?? '');
  }

  place(wanted: { position: Position } | { id: string }): Promise<Place | null> {
    return Promise.resolve('id' in wanted ? this.placeOf(wanted.id) : this.placeAt(wanted.position));
  }

  /** The groups around an item, outermost first. */
  placeOf(id: string): Place | null {
    const path: string[] = [];
    for (let around = this.#around.get(id); around !== undefined; around = this.#around.get(around)) path.unshift(around);
    return path.length === 0 && !this.#groups.has(id) ? null : { path, id };
  }

  /** The node of the innermost statement at a position; in the blanks before statements, of the first one of the line. */
  placeAt({ line, character }: Position): Place | null {
    const { statements } = this.#data;
    // The number of statements that begin at the position or before.
    let [low, high] = [0, statements.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const [at, column] = statements[middle] ?? [Infinity, 0];
      if (at < line || (at === line && column <= character)) low = middle + 1;
      else high = middle;
    }
    for (let at = low - 1; at >= Math.max(0, low - 10_000); at -= 1) {
      const statement = statements[at];
      if (statement && statement[2] >= line) {
        // A graph around is not what stands on this line.
        const following = statements[low];
        if (statement[0] < line && following?.[0] === line) return this.placeOf(following[3]);
        return this.placeOf(statement[3]);
      }
    }
    const following = statements[low];
    return following?.[0] === line ? this.placeOf(following[3]) : null;
  }

  details(id: string): Promise<Details | null> {
    return Promise.resolve(this.#data.details[id] ?? null);
  }

  find(words: string): Promise<Place[]> {
    const wanted = words.toLowerCase();
    const found: Place[] = [];
    for (const [id, text] of Object.entries(this.#data.searched)) {
      if (found.length === MAX_FOUND) break;
      const place = text.toLowerCase().includes(wanted) ? this.placeOf(id) : null;
      if (place) found.push(place);
    }
    return Promise.resolve(found);
  }
}
