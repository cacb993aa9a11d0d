// SPDX-License-Identifier: Apache-2.0

/** Layouts in a thread; a new one ends the one before. */

import { Worker } from 'node:worker_threads';
import type { Drawing } from './protocol.ts';
import type { Task } from './worker.ts';

/** Deep graphs need it: ELK walks them recursively. */
const STACK_MEGABYTES = 64;

export class Superseded extends Error {}

export class Layouter {
  readonly #script: string;
  #running: { worker: Worker; giveUp: (reason: Error) => void } | undefined;

  /** @param script path of the bundled worker. */
  constructor(script: string) {
    this.#script = script;
  }

  /**
   * The drawing of a model's graphs.
   *
   * @throws Superseded if another one was asked for before this one was done.
   */
  async layout(task: Task): Promise<Drawing> {
    this.stop();
    return await new Promise<Drawing>((resolve, reject) => {
      const worker = new Worker(this.#script, { workerData: task, resourceLimits: { stackSizeMb: STACK_MEGABYTES } });
      const running = { worker, giveUp: reject };
      this.#running = running;
      const done = (then: () => void) => {
        if (this.#running === running) this.#running = undefined;
        void worker.terminate();
        then();
      };
      worker.once('message', (drawing: Drawing) => { done(() => { resolve(drawing); }); });
      worker.once('error', (error: Error) => { done(() => { reject(error); }); });
      worker.once('exit', () => { done(() => { reject(new Error('the layout ended without a drawing')); }); });
    });
  }

  /** End what is running, if anything is. */
  stop(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.giveUp(new Superseded('there is a newer layout'));
    void running?.worker.terminate();
  }
}
