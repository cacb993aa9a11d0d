// SPDX-License-Identifier: Apache-2.0

/** A thread of its own for the layout: thousands of nodes take seconds. */

import ELK from 'elkjs/lib/elk.bundled.js';
import { parentPort, workerData } from 'node:worker_threads';
import { arrange } from './arrange.ts';
import type { GraphDocument, ViewOptions } from './protocol.ts';

export interface Task {
  model: GraphDocument;
  options: ViewOptions;
  mostNodes: number;
}

const { model, options, mostNodes } = workerData as Task;
const elk = new ELK();
const drawing = await arrange(model, options, mostNodes, (graph) => elk.layout(graph));
parentPort?.postMessage(drawing);
