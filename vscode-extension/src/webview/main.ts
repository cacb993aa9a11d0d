// SPDX-License-Identifier: Apache-2.0

/** The entry of the graph view's page in VS Code. */

import type { ToView } from '../graph/protocol.ts';
import { startView } from './app.ts';

const vscode = acquireVsCodeApi<{ uri: string }>();
vscode.setState({ uri: document.body.dataset.document ?? '' });
startView({
  send: (message) => { vscode.postMessage(message); },
  receive: (take) => { window.addEventListener('message', ({ data }: MessageEvent<ToView>) => { take(data); }); },
});
