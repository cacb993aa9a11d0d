// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { categoryOf } from '../../src/graph/categories.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => fs.readFileSync(path.join(ROOT, name), 'utf8');

interface Manifest {
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: {
    configuration: { properties: Record<string, { default: unknown; scope?: string }> };
    commands: { command: string; title: string }[];
    menus: Record<string, { command: string }[]>;
    grammars: { path: string }[];
    languages: { extensions: string[]; icon: { light: string; dark: string } }[];
    snippets: { path: string }[];
  };
}
const manifest = JSON.parse(read('package.json')) as Manifest;
const { configuration, commands, menus, grammars, snippets } = manifest.contributes;
const settings = Object.keys(configuration.properties);

test('the README tells every setting and every command, and no others', () => {
  const readme = read('README.md');
  const told = (start: string) => Array.from(readme.matchAll(new RegExp(`^\\| \`(${start}[^\`]*)\``, 'gm')), (match) => match[1]);
  assert.deepEqual(told('onnxtext\\.').sort(), [...settings].sort());
  // These are found in menus, where their names say all.
  const silent = ['onnxtext.openAsText'];
  const titles = commands.filter(({ command }) => !silent.includes(command)).map(({ title }) => `onnxtext: ${title}`);
  assert.deepEqual(told('onnxtext: ').sort(), titles.sort());
});

test('what runs programs is a setting of the machine, and is not taken from workspaces that are not trusted', () => {
  for (const name of ['onnxtext.interpreter', 'onnxtext.server.source', 'onnxtext.server.arguments']) {
    assert.equal(configuration.properties[name]?.scope, 'machine-overridable');
    assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name));
  }
});

test('every menu has commands that there are; every file that is named exists', () => {
  const names = new Set(commands.map(({ command }) => command));
  for (const { command } of Object.values(menus).flat()) assert.ok(names.has(command), command);
  for (const { path: file } of [...grammars, ...snippets]) JSON.parse(read(file));
});

test('models have an icon in the explorer, as text and as binary', () => {
  const { languages } = manifest.contributes;
  assert.deepEqual(languages.flatMap(({ extensions }) => extensions).sort(), ['.onnx', '.onnxtext', '.onnxtxt']);
  for (const { icon } of languages) for (const file of [icon.light, icon.dark]) assert.match(read(file), /<svg/);
});

test('operators and their categories', () => {
  const expected = {
    Conv: 'layer', MatMul: 'layer', 'com.microsoft.FusedMatMul': 'layer', Relu: 'activation', LeakyRelu: 'activation', Softmax: 'activation',
    BatchNormalization: 'normalization', MaxPool: 'pool', Reshape: 'shape', Add: 'arithmetic', ReduceMean: 'arithmetic', If: 'control',
    Constant: 'constant', ConstantOfShape: 'constant', QLinearMatMul: 'quantization', DequantizeLinear: 'quantization', 'my.ops.Whatever': 'other',
  };
  for (const [operator, category] of Object.entries(expected)) assert.equal(categoryOf(operator), category, operator);
});
