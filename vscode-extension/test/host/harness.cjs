// SPDX-License-Identifier: Apache-2.0
//
// Runs tests one after the other inside the extension host.
const vscode = require('vscode');

/** What `find` finds, once it finds something. */
async function until(what, find, milliseconds = 120_000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const found = await find();
    if (found) return found;
    if (Date.now() > end) throw new Error(`no ${what} within ${milliseconds / 1000} s`);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

const file = (name) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, name);
const bytesOf = async (name) => Buffer.from(await vscode.workspace.fs.readFile(file(name)));

async function show(name) {
  const document = await vscode.workspace.openTextDocument(file(name));
  const editor = await vscode.window.showTextDocument(document);
  return { document, editor };
}

/** The place of some text, or just before a part of it: `y = |Relu`. */
function at(document, marked) {
  const offset = marked.includes('|') ? marked.indexOf('|') : 0;
  const text = marked.replace('|', '');
  const found = document.getText().indexOf(text);
  if (found < 0) throw new Error(`${text} is not in ${document.uri.path}`);
  return document.positionAt(found + offset);
}

const extension = () => vscode.extensions.getExtension('onnxtext.onnxtext');

async function running() {
  const api = await extension().activate();
  return await until('running server', () => api.status().state === 'running' && api.status());
}

async function run(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const start = performance.now();
    try {
      await test();
      console.log(`ok - ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
      failed += 1;
      console.error(`not ok - ${name}: ${error.stack}`);
    }
  }
  const count = Object.keys(tests).length;
  console.log(`# VS Code ${vscode.version}: ${count - failed} of ${count} tests passed`);
  if (failed > 0) throw new Error(`${failed} tests failed`);
}

module.exports = { at, bytesOf, extension, file, run, running, show, until };
