// SPDX-License-Identifier: Apache-2.0

/** The names of a text by line, and where they are defined and used. */

import { DECLARATION, DEFINITION, type NameData, type TextData } from './data.ts';

export interface Occurrence {
  line: number;
  column: number;
  length: number;
  role: number;
  /** The index of its name. */
  name: number;
}

export class Names {
  readonly #names: NameData[];
  readonly #byLine = new Map<number, Occurrence[]>();
  readonly #byName: Occurrence[][];

  constructor(text: TextData) {
    this.#names = text.names;
    this.#byName = text.names.map(([, , , places], name) => {
      const found: Occurrence[] = [];
      for (let at = 0; at + 3 < places.length; at += 4) {
        const [line = 0, column = 0, length = 0, role = 0] = places.slice(at, at + 4);
        const made = { line, column, length, role, name };
        found.push(made);
        const others = this.#byLine.get(line);
        if (others) others.push(made);
        else this.#byLine.set(line, [made]);
      }
      return found;
    });
    for (const found of this.#byLine.values()) found.sort((a, b) => a.column - b.column);
  }

  at(line: number): readonly Occurrence[] {
    return this.#byLine.get(line) ?? [];
  }

  /** All occurrences of a name, in the order of the text. */
  of(name: number): readonly Occurrence[] {
    return this.#byName[name] ?? [];
  }

  about(name: number): { name: string; kind: string; type: string } {
    const [text, kind, type] = this.#names[name] ?? ['', '', '', []];
    return { name: text, kind, type };
  }

  /** Where a name is defined, or else declared. */
  definition(name: number): Occurrence | undefined {
    const found = this.of(name);
    return found.find(({ role }) => role === DEFINITION) ?? found.find(({ role }) => role === DECLARATION);
  }
}
