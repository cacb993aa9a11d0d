// SPDX-License-Identifier: Apache-2.0

/** Find what is visible: the members of open groups, and the edges between visible nodes. */

import type { Change, Group, GraphDocument, Item } from './protocol.ts';

/** A visible node or closed group (`item`), or an open group (`group`). */
export interface VisibleBox {
  id: string;
  item?: Item;
  group?: Group;
  /** The members of an open group; the open graphs of a node. */
  children: VisibleBox[];
}

export interface VisibleEdge {
  from: string;
  to: string;
  /** The names of the values. */
  values: string[];
  type: string | null;
  change?: Change;
}

export interface Scene {
  roots: VisibleBox[];
  edges: VisibleEdge[];
  /** The number of items that did not fit. */
  omitted: number;
}

/** Compose the visible part of a model, at most `mostNodes` nodes. */
export function compose(model: GraphDocument, mostNodes: number): Scene {
  const groups = new Map(model.groups.map((group) => [group.id, group]));
  const shown = new Map<string, VisibleBox>();
  let room = mostNodes;
  let omitted = 0;

  const openGroup = (group: Group): VisibleBox => {
    const box: VisibleBox = { id: group.id, group, children: [] };
    shown.set(group.id, box);
    for (const item of group.items) {
      const inner = item.kind === 'group' ? groups.get(item.id) : undefined;
      if (inner) {
        box.children.push(openGroup(inner));
      } else if (room > 0) {
        room -= 1;
        box.children.push(leaf(item));
      } else {
        omitted += 1;
      }
    }
    return box;
  };
  const leaf = (item: Item): VisibleBox => {
    const box: VisibleBox = { id: item.id, item, children: [] };
    shown.set(item.id, box);
    for (const { id } of item.bodies) {
      const body = groups.get(id);
      if (body) box.children.push(openGroup(body));
    }
    return box;
  };
  const roots = model.roots.map((item) => {
    const group = groups.get(item.id);
    return group ? openGroup(group) : leaf(item);
  });
  return { roots, edges: edgesOf([...groups.values()], shown), omitted };
}

function edgesOf(groups: Group[], shown: Map<string, VisibleBox>): VisibleEdge[] {
  const ends = (pairs: (group: Group) => [string, string][]) => new Map(groups.map((group) => {
    const byValue = new Map<string, string[]>();
    for (const [value, id] of pairs(group)) {
      const known = byValue.get(value);
      if (known) known.push(id);
      else byValue.set(value, [id]);
    }
    return [group.id, byValue];
  }));
  const makes = ends((group) => group.makes);
  const uses = ends((group) => group.uses);

  /** The visible boxes that make or use a value, at or in a box. */
  const resolve = (id: string, value: string, inner: typeof makes): string[] => {
    const box = shown.get(id);
    if (!box) return [];
    if (box.group) return (inner.get(id)?.get(value) ?? []).flatMap((each) => resolve(each, value, inner));
    if (inner === makes || box.item?.bodies.length === 0) return [id];
    // A closed graph of the node leaves its edges at the node.
    const users = (box.item?.uses ?? []).filter(([name]) => name === value)
      .flatMap(([, user]) => (user === id || !shown.has(user) ? [id] : resolve(user, value, inner)));
    return [...new Set(users)];
  };

  const found = new Map<string, VisibleEdge>();
  for (const group of groups) {
    if (!shown.has(group.id)) continue;
    for (const edge of group.edges) {
      for (const from of resolve(edge.from, edge.value, makes)) {
        for (const to of resolve(edge.to, edge.value, uses)) {
          if (from === to) continue;
          const key = JSON.stringify([from, to]);
          const name = edge.value.slice(edge.value.indexOf(':') + 1);
          const known = found.get(key);
          if (!known) {
            found.set(key, { from, to, values: [name], type: edge.type, ...(edge.change ? { change: edge.change } : {}) });
          } else {
            if (!known.values.includes(name)) known.values.push(name);
            // Several values: that of an unchanged one.
            if (!edge.change) delete known.change;
          }
        }
      }
    }
  }
  return [...found.values()];
}
