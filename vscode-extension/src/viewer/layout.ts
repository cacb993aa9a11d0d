// SPDX-License-Identifier: Apache-2.0

/** Run ELK in a worker of the page; a new layout cancels the previous one. */

import ELK from 'elkjs/lib/elk-api.js';
import { arrange } from '../graph/arrange.ts';
import type { Drawing, Task } from '../graph/protocol.ts';

export class Superseded extends Error {}

export class PageLayouter {
  readonly #url: Promise<string>;
  #elk: InstanceType<typeof ELK> | undefined;
  #busy = false;
  #abandon: () => void = () => undefined;

  /** @param script the source of ELK's worker. */
  constructor(script: Promise<string>) {
    this.#url = script.then((source) => URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
  }

  async layout(task: Task): Promise<Drawing> {
    const url = await this.#url;
    if (this.#busy) this.#abandon();
    const elk = (this.#elk ??= new ELK({ workerFactory: () => new Worker(url) }));
    this.#busy = true;
    const superseded = new Promise<never>((_, reject) => {
      this.#abandon = () => {
        elk.terminateWorker();
        this.#elk = undefined;
        reject(new Superseded());
      };
    });
    try {
      return await Promise.race([arrange(task, (graph) => elk.layout(graph)), superseded]);
    } finally {
      if (this.#elk === elk) this.#busy = false;
    }
  }
}
