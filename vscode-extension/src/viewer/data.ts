// SPDX-License-Identifier: Apache-2.0

/** The data of a page, as `onnxtext/viewer` writes it. */

import type { Details, GraphDocument } from '../graph/protocol.ts';

/** Name, kind (`value`, `function`, …), type or "", and line, column, length and role of each occurrence in turn. */
export type NameData = [name: string, kind: string, type: string, places: number[]];

/** The roles of occurrences. */
export const DEFINITION = 1;
export const DECLARATION = 2;

export interface TextData {
  lines: string[];
  /** For each line the class (an index of `classes`) and length of each token in turn. */
  kinds: number[][];
  classes: string[];
  /** The number of each line, if lines were left out. */
  numbers: number[] | null;
  names: NameData[];
  /** First line, last line, and 1 if it is folded at first. */
  folds: [first: number, last: number, closed: number][];
  /** The statistics of weights, by line. */
  notes: Record<string, string>;
  findings: [line: number, severity: string, code: string, message: string][];
}

export interface Hunk {
  title: string;
  lines: [mark: string, text: string][];
  /** The line in the old and in the new text, -1 if there is none, of each occurrence. */
  places: [old: number, now: number][];
}

export interface GraphData {
  /** All groups. */
  document: GraphDocument;
  /** Those that are open at first. */
  open: string[];
  details: Record<string, Details>;
  /** What a search looks at, by id. */
  searched: Record<string, string>;
  statements: [line: number, column: number, last: number, id: string][];
}

/** A run of lines: in both texts (`=`), the old one only (`-`), or the new one only (`+`). */
export type Run = [mark: '=' | '-' | '+', old: number, now: number, count: number];

export interface PageData {
  title: string;
  overview: [title: string, lines: string[]][];
  text: TextData;
  /** The text it is compared with. */
  old: TextData | null;
  rows: Run[];
  graph: GraphData;
  changes: { verdict: string; hunks: Hunk[] } | null;
}
