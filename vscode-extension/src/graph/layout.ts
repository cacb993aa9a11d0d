// SPDX-License-Identifier: Apache-2.0

/** Run layouts in a worker thread; a new layout cancels the previous one. */

import { Worker } from 'node:worker_threads';
import type { Drawing, Task } from './protocol.ts';
import type { Answer } from './worker.ts';

/** For deep graphs, which ELK walks recursively. */
const STACK_MEGABYTES = 64;

export class Superseded extends Error {}

export class Layouter {
  readonly #script: string;
  /** Kept because ELK is faster the second time. */
  #worker: Worker | undefined;
  /** Cancel the current layout. */
  #abandon: (() => void) | undefined;

  /** @param script path of the bundled worker. */
  constructor(script: string) {
    this.#script = script;
  }

  /** Start the thread, which takes a second: before its first task is known. */
  start(): Worker {
    return (this.#worker ??= new Worker(this.#script, { resourceLimits: { stackSizeMb: STACK_MEGABYTES } }));
  }

  /**
   * Lay out a model's graphs.
   *
   * @throws Superseded if another layout was requested before this one finished.
   */
  async layout(task: Task): Promise<Drawing> {
    if (this.#abandon) this.stop();
    const worker = this.start();
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

  /** Stop the thread and its layout. */
  stop(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#abandon?.();
    void worker?.terminate();
  }
}
