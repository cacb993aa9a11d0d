// SPDX-License-Identifier: Apache-2.0
//
// What the extension and the server do together, asserted through VS Code's own commands.
const assert = require('node:assert/strict');
const vscode = require('vscode');
const { at, bytesOf, extension, file, run, running, show, until } = require('./harness.cjs');

const execute = vscode.commands.executeCommand;
const codeOf = (found) => (typeof found.code === 'object' ? found.code.value : found.code);
const textOf = (hover) => hover.contents.map((each) => (typeof each === 'string' ? each : each.value)).join('\n');
const diagnostics = (document) => vscode.languages.getDiagnostics(document.uri);
const onnx = (name) => file(name).with({ scheme: 'onnx' });

const tests = {
  async 'every command of package.json is registered'() {
    await running();
    const registered = new Set(await vscode.commands.getCommands(true));
    for (const { command } of extension().packageJSON.contributes.commands) assert.ok(registered.has(command), command);
  },

  async 'the server is that of the chosen environment'() {
    const { plan } = await running();
    assert.equal(plan.mode, 'environment');
  },

  async 'diagnostics: code, place, and they go when the mistake goes'() {
    const { document, editor } = await show('broken.onnxtxt');
    assert.equal(document.languageId, 'onnxtxt');
    const [found] = await until('diagnostic', () => diagnostics(document).length > 0 && diagnostics(document));
    assert.equal(codeOf(found), 'op-unknown');
    assert.equal(document.getText(found.range), 'Sotfmax');
    await editor.edit((edit) => { edit.replace(found.range, 'Softmax'); });
    await until('clean document', () => diagnostics(document).length === 0);
    await execute('workbench.action.files.revert');
  },

  async 'quick fixes'() {
    const { document, editor } = await show('classifier.onnxtxt');
    await editor.edit((edit) => { edit.insert(at(document, 'b1)|'), ';'); });
    const [found] = await until('diagnostic', () => diagnostics(document).length > 0 && diagnostics(document));
    assert.equal(codeOf(found), 'semicolon');
    const fixes = await execute('vscode.executeCodeActionProvider', document.uri, found.range, vscode.CodeActionKind.QuickFix.value);
    const fix = fixes.find((each) => each.isPreferred ?? each.edit);
    assert.ok(fix?.edit, fixes.map((each) => each.title).join(', '));
    await vscode.workspace.applyEdit(fix.edit);
    await until('clean document', () => diagnostics(document).length === 0);
    assert.match(document.getText(), /W1, b1\)\n/);
    await execute('workbench.action.files.revert');
  },

  async 'types are written into the text'() {
    const { document } = await show('collatz.onnxtxt');
    const place = at(document, 'not_there| = Greater');
    const kind = vscode.CodeActionKind.RefactorRewrite.value;
    const action = await until('action on types', async () => {
      const found = await execute('vscode.executeCodeActionProvider', document.uri, new vscode.Range(place, place), kind, 10);
      return found.find((each) => each.edit && each.title === 'Write the inferred types of this node');
    });
    await vscode.workspace.applyEdit(action.edit);
    await until('typed text', () => document.getText().includes('bool not_there = Greater'));
    await execute('workbench.action.files.revert');
  },

  async 'hover: operators and values'() {
    const { document } = await show('classifier.onnxtxt');
    const [operator] = await until('hover', async () => {
      const found = await execute('vscode.executeHoverProvider', document.uri, at(document, 'Softm|ax'));
      return found.length > 0 && found;
    });
    assert.match(textOf(operator), /Softmax/);
    assert.match(textOf(operator), /axis/);
    const value = await until('type in a hover', async () => {
      const found = await execute('vscode.executeHoverProvider', document.uri, at(document, 'Softmax <axis = -1> (|logits'));
      return found.map(textOf).find((text) => /float\[/.test(text));
    });
    assert.match(value, /float\[N, 3\]/);
  },

  async 'definition and references'() {
    const { document } = await show('collatz.onnxtxt');
    const use = at(document, 'half = Div (n, |two)');
    const found = await until('definition', async () => {
      const places = await execute('vscode.executeDefinitionProvider', document.uri, use);
      return places.length > 0 && places;
    });
    const range = found[0].targetSelectionRange ?? found[0].targetRange ?? found[0].range;
    assert.equal(range.start.line, at(document, 'int64 two = 2').line);
    const references = await execute('vscode.executeReferenceProvider', document.uri, use);
    assert.equal(references.length, 3, 'defined once, used twice');
  },

  async 'rename, through the graphs inside'() {
    const { document } = await show('collatz.onnxtxt');
    const edit = await execute('vscode.executeDocumentRenameProvider', document.uri, at(document, 'int64 |two = 2'), 'a pair');
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.match(document.getText(), /int64 "a pair" = 2/);
    assert.match(document.getText(), /half = Div \(n, "a pair"\)/);
    await until('clean document', () => diagnostics(document).length === 0);
    await execute('workbench.action.files.revert');
  },

  async 'completion of operators and values'() {
    const { document, editor } = await show('classifier.onnxtxt');
    const line = at(document, 'probabilities = Softmax').line;
    const complete = async (text) => {
      await editor.edit((edit) => { edit.insert(new vscode.Position(line, 0), `${text}\n`); });
      const position = new vscode.Position(line, text.length);
      const list = await until(`completion of ${text}`, async () => {
        const found = await execute('vscode.executeCompletionItemProvider', document.uri, position);
        return found.items.length > 0 && found;
      });
      await execute('workbench.action.files.revert');
      return list.items.map((item) => (typeof item.label === 'string' ? item.label : item.label.label));
    };
    assert.ok((await complete('  z = Rel')).includes('Relu'));
    const values = await complete('  z = Relu (');
    assert.ok(values.includes('flowers') && values.includes('W1'), values.join(' '));
  },

  async 'formatting keeps comments'() {
    const { document } = await show('messy.onnxtxt');
    const edits = await until('edits', () => execute('vscode.executeFormatDocumentProvider', document.uri, { tabSize: 2, insertSpaces: true }));
    const change = new vscode.WorkspaceEdit();
    change.set(document.uri, edits);
    await vscode.workspace.applyEdit(change);
    assert.match(document.getText(), /^# kept\n<\n {2}onnxtext: 1,\n/);
    assert.match(document.getText(), /\n {2}t = Neg \(x\) # why\n {2}y = Abs \(t\)\n\}\n$/);
    await execute('workbench.action.files.revert');
  },

  async 'symbols, semantic tokens, folding, inlay hints'() {
    const { document } = await show('attention.onnxtxt');
    const names = (symbols) => symbols.flatMap((each) => [each.name, ...names(each.children ?? [])]);
    const symbols = names(await until('symbols', () => execute('vscode.executeDocumentSymbolProvider', document.uri)));
    assert.ok(symbols.some((name) => name.includes('Scores')), symbols.join(' '));
    const tokens = await execute('vscode.provideDocumentSemanticTokens', document.uri);
    assert.ok(tokens.data.length > 100);
    assert.ok((await execute('vscode.executeFoldingRangeProvider', document.uri)).length > 3);
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await until('inlay hints', async () => {
      const found = await execute('vscode.executeInlayHintProvider', document.uri, all);
      return found.length > 0 && found;
    });
    assert.ok(hints.length > 0);
    await vscode.workspace.getConfiguration('onnxtext').update('inlayHints.enabled', false, vscode.ConfigurationTarget.Global);
    assert.deepEqual(await execute('vscode.executeInlayHintProvider', document.uri, all), []);
    await vscode.workspace.getConfiguration('onnxtext').update('inlayHints.enabled', undefined, vscode.ConfigurationTarget.Global);
  },

  async 'an .onnx file opens as text, read-only, with all that the language has'() {
    await execute('vscode.open', file('model.onnx'));
    const editor = await until('text editor', () =>
      vscode.window.activeTextEditor?.document.uri.scheme === 'onnx' && vscode.window.activeTextEditor);
    const { document } = editor;
    assert.equal(document.languageId, 'onnxtxt');
    assert.match(document.getText(), /"fc\/out:0" = MatMul \(x, "fc\/W:0"\)/);
    assert.match(document.getText(), /blob"[0-9a-f]{32}"/);
    await until('text in the place of the editor that was opened', () =>
      !vscode.window.tabGroups.all.flatMap((group) => group.tabs).some((tab) => tab.input instanceof vscode.TabInputCustom));
    const stat = await vscode.workspace.fs.stat(document.uri);
    assert.equal(stat.permissions, vscode.FilePermission.Readonly);
    await assert.rejects(async () => { await vscode.workspace.fs.writeFile(document.uri, Buffer.from('')); });
    const hover = await until('hover', async () => {
      const found = await execute('vscode.executeHoverProvider', document.uri, at(document, 'MatM|ul'));
      return found.length > 0 && found;
    });
    assert.match(textOf(hover[0]), /MatMul/);
    assert.deepEqual(diagnostics(document).map((each) => each.message), []);
  },

  async 'it is saved as binary: the very same bytes when nothing has changed'() {
    const original = await bytesOf('model.onnx');
    const document = await vscode.workspace.openTextDocument(onnx('model.onnx'));
    const editor = await vscode.window.showTextDocument(document);
    await execute('onnxtext.makeEditable', document.uri);
    await until('editor that can be edited', async () => {
      await editor.edit((edit) => { edit.insert(new vscode.Position(0, 0), '# note\n'); });
      return document.isDirty;
    });
    await execute('workbench.action.files.revert');
    const replace = async (from, to) => {
      const start = at(document, from);
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, new vscode.Range(start, start.translate(0, from.length)), to);
      assert.ok(await vscode.workspace.applyEdit(edit));
    };
    await replace('workspace', 'somebody else');
    assert.ok(await document.save(), 'saved');
    const changed = await bytesOf('model.onnx');
    assert.ok(changed.includes('somebody else') && !changed.includes('workspace'));
    assert.equal(changed.length, original.length + 'somebody else'.length - 'workspace'.length);
    await replace('somebody else', 'workspace');
    assert.ok(await document.save(), 'saved again');
    assert.deepEqual(await bytesOf('model.onnx'), original);
  },

  async 'a text with errors is not saved, and costs nothing'() {
    const original = await bytesOf('model.onnx');
    const document = await vscode.workspace.openTextDocument(onnx('model.onnx'));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, at(document, 'Softmax'), '((');
    await vscode.workspace.applyEdit(edit);
    assert.equal(await document.save(), false);
    assert.ok(document.isDirty);
    assert.deepEqual(await bytesOf('model.onnx'), original);
    await vscode.window.showTextDocument(document);
    await execute('workbench.action.files.revert');
    assert.ok(!document.isDirty);
  },

  async 'a binary that somebody else changes is read again'() {
    const document = await vscode.workspace.openTextDocument(onnx('model.onnx'));
    await vscode.window.showTextDocument(document);
    await vscode.workspace.fs.copy(file('large.onnx'), file('model.onnx'), { overwrite: true });
    await until('new text', () => document.getText().includes('40000'));
  },

  async 'what is no model, or too large, is explained'() {
    await assert.rejects(async () => { await vscode.workspace.openTextDocument(onnx('garbage.onnx')); }, /garbage\.onnx/);
    const configuration = vscode.workspace.getConfiguration('onnxtext');
    await configuration.update('binary.maxSize', 1, vscode.ConfigurationTarget.Global);
    await assert.rejects(async () => { await vscode.workspace.openTextDocument(onnx('large.onnx')); }, /1\.5 MiB.*onnxtext\.binary\.maxSize/);
    await execute('vscode.open', file('large.onnx'));
    await until('editor that explains', () => vscode.window.tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputCustom);
    await configuration.update('binary.maxSize', undefined, vscode.ConfigurationTarget.Global);
    await execute('workbench.action.closeActiveEditor');
  },

  async 'converted to binary and back, verified'() {
    await execute('onnxtext.toBinary', file('collatz.onnxtxt'));
    const binary = await bytesOf('collatz.onnx');
    await vscode.workspace.fs.rename(file('collatz.onnx'), file('again.onnx'));
    await execute('onnxtext.fromBinary', file('again.onnx'));
    assert.match((await bytesOf('again.onnxtxt')).toString(), /last, highest, steps, visited = Loop/);
    await vscode.workspace.fs.delete(file('again.onnx'));
    await execute('onnxtext.toBinary', file('again.onnxtxt'));
    assert.deepEqual(await bytesOf('again.onnx'), binary);
    assert.equal(await execute('onnxtext.verify', file('again.onnx')), true);
    assert.equal(await execute('onnxtext.verify', file('classifier.onnxtxt')), true);
    assert.notEqual(await execute('onnxtext.verify', file('garbage.onnx')), true);
  },

  async 'the graph view draws nested graphs, and 5,000 nodes in parts'() {
    const small = await execute('onnxtext.showGraph', (await show('collatz.onnxtxt')).document.uri);
    assert.ok(small.nodes >= 12, `${small.nodes} nodes`);
    const deep = await show('deep.onnxtxt');
    deep.editor.selection = new vscode.Selection(0, 0, 0, 0);
    const { nodes, edges, milliseconds } = await execute('onnxtext.showGraph', deep.document.uri);
    assert.equal(nodes, 51, 'the parts of the main graph');
    assert.ok(edges >= 50);
    const { request, layout, drawing } = milliseconds;
    console.log(`# graph of 5,003 nodes: request ${Math.round(request)} ms, layout ${Math.round(layout)} ms, drawing ${Math.round(drawing)} ms`);
    assert.ok(request + layout + drawing < 60_000); // 2,000 on an idle machine
    await execute('workbench.action.closeAllEditors');
  },

  async 'the graph is compared with another file, and with nothing again'() {
    const { document } = await show('classifier.onnxtxt');
    await vscode.workspace.fs.writeFile(file('before.onnxtxt'), Buffer.from(document.getText().replace('Softmax', 'LogSoftmax')));
    assert.equal(await execute('onnxtext.compareGraph', document.uri, file('before.onnxtxt').toString()), 'before.onnxtxt');
    assert.equal(await execute('onnxtext.compareGraph', document.uri, file('nothing.onnx').toString()), undefined);
    assert.equal(await execute('onnxtext.compareGraph', document.uri, ''), null);
    await execute('workbench.action.closeAllEditors');
  },

  async 'the server can be restarted'() {
    await execute('onnxtext.restart');
    await running();
    const { document } = await show('broken.onnxtxt');
    await until('diagnostic', () => diagnostics(document).length > 0);
  },
};

exports.run = () => run(tests);
