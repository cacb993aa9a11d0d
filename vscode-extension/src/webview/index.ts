// SPDX-License-Identifier: Apache-2.0

/** A spatial index (a grid of lists): find the boxes in an area. */

import type { Box } from '../graph/protocol.ts';
import { overlap } from './paths.ts';

const CELL = 600;

export class SpatialIndex<T> {
  readonly #cells = new Map<string, { box: Box; item: T }[]>();
  /** Boxes that span too many cells. */
  readonly #large: { box: Box; item: T }[] = [];

  add(box: Box, item: T): void {
    const keys = cellsOf(box);
    if (keys.length > 64) this.#large.push({ box, item });
    for (const key of keys.length > 64 ? [] : keys) {
      const cell = this.#cells.get(key);
      if (cell) cell.push({ box, item });
      else this.#cells.set(key, [{ box, item }]);
    }
  }

  within(area: Box): Set<T> {
    const found = new Set<T>();
    const take = (entries: { box: Box; item: T }[]) => {
      for (const { box, item } of entries) if (overlap(box, area)) found.add(item);
    };
    take(this.#large);
    for (const key of cellsOf(area)) take(this.#cells.get(key) ?? []);
    return found;
  }
}

function cellsOf({ x, y, width, height }: Box): string[] {
  const keys: string[] = [];
  for (let column = Math.floor(x / CELL); column <= Math.floor((x + width) / CELL); column += 1) {
    for (let row = Math.floor(y / CELL); row <= Math.floor((y + height) / CELL); row += 1) {
      keys.push(`${column.toString()} ${row.toString()}`);
    }
  }
  return keys;
}
