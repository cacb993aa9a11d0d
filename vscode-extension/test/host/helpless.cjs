// SPDX-License-Identifier: Apache-2.0
//
// Without any interpreter: it says what is missing, and what needs none goes on working.
const assert = require('node:assert/strict');
const vscode = require('vscode');
const { extension, file, run, show, until } = require('./harness.cjs');

exports.run = () => run({
  async 'the reason is told'() {
    const api = await extension().activate();
    const { misfits } = await until('failure', () => api.status().state === 'failed' && api.status());
    assert.deepEqual(misfits, [{ command: '/nowhere/python', reason: 'it does not exist' }]);
  },

  async 'texts open and have their language'() {
    const { document } = await show('classifier.onnxtxt');
    assert.equal(document.languageId, 'onnxtxt');
  },

  async 'what needs the server fails with that reason'() {
    await assert.rejects(async () => { await vscode.workspace.openTextDocument(file('model.onnx').with({ scheme: 'onnx' })); }, /nowhere/);
  },
});
