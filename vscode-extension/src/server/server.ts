// SPDX-License-Identifier: Apache-2.0

/** Find, start, restart and stop the language server. */

import * as path from 'node:path';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions, type RequestType, State } from 'vscode-languageclient/node';
import { SCHEME } from '../binary/uris.ts';
import { inlayHintsWanted, LANGUAGE, serverSettings } from '../settings.ts';
import { offerHelp } from './guidance.ts';
import { candidates } from './interpreters.ts';
import { choose, type Misfit, type Plan } from './probe.ts';

export type Status =
  | { state: 'stopped' | 'starting' }
  | { state: 'untrusted' }
  | { state: 'running'; plan: Plan; version: string }
  | { state: 'failed'; misfits: Misfit[] };

/** A request failed because there is no server; the message is shown to users. */
export class NoServer extends Error {}

const MAX_CRASHES = 3;

export class Server implements vscode.Disposable {
  readonly log: vscode.LogOutputChannel;
  readonly #changed = new vscode.EventEmitter<Status>();
  readonly onDidChange = this.#changed.event;
  readonly #context: vscode.ExtensionContext;
  #client: LanguageClient | undefined;
  #status: Status = { state: 'stopped' };
  #turn: Promise<void> = Promise.resolve();
  #helped = false;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.log = vscode.window.createOutputChannel('onnxtext', { log: true });
  }

  get status(): Status {
    return this.#status;
  }

  /** Start or restart the server. Concurrent calls run one after the other. */
  async restart(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      try {
        await this.#stop();
        await this.#start();
      } catch (error) {
        this.log.error(String(error));
        this.#set({ state: 'failed', misfits: [{ command: 'the language server', reason: error instanceof Error ? error.message : String(error) }] });
      }
    });
    await this.#turn;
  }

  /**
   * Send a request to the server as soon as it runs.
   *
   * @throws NoServer if there is none.
   */
  async request<P, R>(type: RequestType<P, R, unknown>, params: P): Promise<R> {
    await this.#turn;
    const client = this.#client;
    if (!client?.isRunning()) throw new NoServer(this.#absence());
    return await client.sendRequest<R>(type.method, params);
  }

  #absence(): string {
    switch (this.#status.state) {
      case 'untrusted':
        return 'The language server does not run in restricted mode: trust this workspace first.';
      case 'failed':
        return `There is no language server: ${this.#status.misfits.map((each) => `${each.command}: ${each.reason}`).join('; ')}`;
      default:
        return 'The language server is not running.';
    }
  }

  async #start(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      this.#set({ state: 'untrusted' });
      return;
    }
    this.#set({ state: 'starting' });
    const settings = serverSettings();
    const { commands, chosen } = await candidates(this.#context.globalStorageUri);
    // Python imports from its working directory, which must not be the workspace.
    const home = this.#context.asAbsolutePath('bundled');
    const { plan, misfits } = await choose(commands, settings.source, home, chosen);
    for (const each of misfits) this.log.info(`not ${each.command}: ${each.reason}`);
    if (!plan) {
      this.#set({ state: 'failed', misfits });
      if (!this.#helped) void offerHelp(misfits, this.#context, this);
      this.#helped = true;
      return;
    }
    this.log.info(`${plan.executable} (Python ${plan.version.join('.')}), onnxtext of ${plan.mode === 'bundled' ? 'the extension' : 'its environment'}`);
    const env = { ...process.env };
    if (plan.mode === 'bundled') env.PYTHONPATH = path.join(home, 'libs');
    const run = { command: plan.executable, args: ['-m', 'onnxtext', 'lsp', ...settings.arguments], options: { cwd: home, env } };
    const client = new LanguageClient('onnxtext', 'onnxtext', run, this.#options());
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) this.#set({ state: 'running', plan, version: client.initializeResult?.serverInfo?.version ?? '?' });
      else if (newState === State.Stopped && this.#client === client) this.#set({ state: 'stopped' });
    });
    this.#client = client;
    await client.start();
    this.#helped = false;
  }

  #options(): LanguageClientOptions {
    let crashes = 0;
    return {
      documentSelector: ['file', 'untitled', SCHEME].map((scheme) => ({ scheme, language: LANGUAGE })),
      // The findings in open texts depend on these files.
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/{pyproject.toml,*.onnxschema}') },
      outputChannel: this.log,
      middleware: {
        provideInlayHints: (document, range, token, next) => (inlayHintsWanted() ? next(document, range, token) : []),
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => {
          crashes += 1;
          if (crashes < MAX_CRASHES) return { action: CloseAction.Restart };
          return { action: CloseAction.DoNotRestart, message: 'The onnxtext language server ended several times; see its log.' };
        },
      },
    };
  }

  async #stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client) {
      await client.dispose(5000).catch((error: unknown) => { this.log.warn(`the server did not stop: ${String(error)}`); });
    }
    this.#set({ state: 'stopped' });
  }

  #set(status: Status): void {
    this.#status = status;
    this.#changed.fire(status);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** Stop the server permanently. */
  async shutdown(): Promise<void> {
    await this.#turn;
    await this.#stop();
    this.log.dispose();
  }
}
