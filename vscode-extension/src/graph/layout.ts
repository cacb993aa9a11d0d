// SPDX-License-Identifier: Apache-2.0

/** Layouts in a thread; a new one ends the one before. */

import { Worker } from 'node:worker_threads';
import type { Drawing } from './protocol.ts';
import type { Answer, Task } from './worker.ts';

/** Deep graphs need it: ELK walks them recursively. */
const STACK_MEGABYTES = 64;

export class Superseded extends Error {}

export class Layouter {
  readonly #script: string;
  /** It is kept: ELK is faster the second time. */
  #worker: Worker | undefined;
  /** Ends the layout that is being made. */
  #abandon: (() => void) | undefined;

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
    if (this.#abandon) this.stop();
    const worker = (this.#worker ??= new Worker(this.#script, { resourceLimits: { stackSizeMb: STACK_MEGABYTES } }));
    return await new Promise<Drawing>((resolve, reject) => {
      const answered = (answer: Answer) => {
        forget();
        if ('drawing' in answer) resolve(answer.drawing);
        else reject(new Error(answer.error));
      };
      const failed = (error: unknown) => {
        forget();
        this.stop();
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      const forget = () => {
        worker.off('message', answered).off('error', failed);
        this.#abandon = undefined;
      };
      this.#abandon = () => {
        forget();
        reject(new Superseded('there is a newer layout'));
      };
      worker.on('message', answered).on('error', failed);
      worker.postMessage(task);
    });
  }

  /** End the thread, and what it is doing. */
  stop(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#abandon?.();
    void worker?.terminate();
  }
}
