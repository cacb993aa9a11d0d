// SPDX-License-Identifier: Apache-2.0

/** The worker thread for layouts: thousands of nodes take seconds. */

import ELK from 'elkjs/lib/elk.bundled.js';
import { parentPort } from 'node:worker_threads';
import { arrange } from './arrange.ts';
import type { Drawing, Task } from './protocol.ts';

export type Answer = { drawing: Drawing } | { error: string };

const elk = new ELK();
/** The first layout compiles most of ELK. */
const [children, edges] = [['a', 'b', 'c'].map((id) => ({ id, width: 9, height: 9 })), ['b', 'c'].map((id) => ({ id: `a${id}`, sources: ['a'], targets: [id] }))];
void elk.layout({ id: 'root', layoutOptions: { 'elk.algorithm': 'layered' }, children, edges });

parentPort?.on('message', (task: Task) => {
  arrange(task, (graph) => elk.layout(graph)).then(
    (drawing) => { answer({ drawing }); },
    (error: unknown) => { answer({ error: error instanceof Error ? error.message : String(error) }); },
  );
});

function answer(message: Answer): void {
  parentPort?.postMessage(message);
}
