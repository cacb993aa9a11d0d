// SPDX-License-Identifier: Apache-2.0
//
// With an interpreter that has onnx, but not onnxtext: the extension's own copy is used.
const assert = require('node:assert/strict');
const vscode = require('vscode');
const { at, bytesOf, file, run, running, show, until } = require('./harness.cjs');

const execute = vscode.commands.executeCommand;

exports.run = () => run({
  async 'the server is that of the extension'() {
    const { plan } = await running();
    assert.equal(plan.mode, 'bundled');
  },

  async 'diagnostics and hover'() {
    const { document } = await show('broken.onnxtxt');
    await until('diagnostic', () => vscode.languages.getDiagnostics(document.uri).length > 0);
    const hover = await execute('vscode.executeHoverProvider', document.uri, at(document, 'MatM|ul'));
    assert.ok(hover.length > 0);
  },

  async 'binaries open; models are converted and verified by the copy too'() {
    await vscode.workspace.openTextDocument(file('model.onnx').with({ scheme: 'onnx' }));
    await execute('onnxtext.toBinary', file('collatz.onnxtxt'));
    assert.ok((await bytesOf('collatz.onnx')).length > 100);
    assert.equal(await execute('onnxtext.verify', file('collatz.onnx')), true);
  },
});
