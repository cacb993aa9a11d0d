// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { choose, plan, probe, type Probe } from '../../src/server/probe.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FULL = process.env.PYTHON ?? path.join(ROOT, '../.venv/bin/python');
const BARE = path.join(ROOT, '../.ci/extension-cache/bare/bin/python');
const EMPTY = fs.mkdtempSync(path.join(os.tmpdir(), 'onnxtext-probe-'));
test.after(() => { fs.rmSync(EMPTY, { recursive: true }); });

const all = ['onnxtext', 'onnxtext.lsp', 'pygls', 'onnx', 'numpy', 'google.protobuf', 'ml_dtypes', 'orjson'];
const made = (modules: string[], version = [3, 11, 7]): Probe => ({ command: 'python', executable: '/bin/python', version, modules });

test('an environment with all of onnxtext is used as it is', async () => {
  const { plan: chosen, misfits } = await choose([FULL], 'auto', EMPTY, 1);
  assert.equal(chosen?.mode, 'environment');
  assert.deepEqual(misfits, []);
});

test('one with onnx alone runs the bundled copy, unless that is not wanted', async () => {
  assert.equal((await choose([BARE], 'auto', EMPTY, 1)).plan?.mode, 'bundled');
  const { plan: chosen, misfits } = await choose([BARE], 'environment', EMPTY, 1);
  assert.equal(chosen, undefined);
  assert.match(misfits[0]?.reason ?? '', /onnxtext, onnxtext\.lsp, pygls: in a clone, pip install -e '\.\[lsp\]'/);
});

test('of those that nobody chose, one with onnxtext comes first', async () => {
  assert.equal((await choose([BARE, FULL], 'auto', EMPTY, 0)).plan?.mode, 'environment');
  assert.equal((await choose([BARE, FULL], 'auto', EMPTY, 1)).plan?.mode, 'bundled');
  assert.equal((await choose([BARE, '/nowhere/python'], 'auto', EMPTY, 0)).plan?.mode, 'bundled');
});

test('what is no Python, does not exist, or may not run, is told', async () => {
  const reason = async (command: string) => {
    const found = await probe(command, EMPTY);
    return 'reason' in found ? found.reason : 'none';
  };
  assert.equal(await reason('/nowhere/python'), 'it does not exist');
  assert.equal(await reason('/bin/echo'), 'it is no Python interpreter');
  const file = path.join(EMPTY, 'file');
  fs.writeFileSync(file, '');
  assert.equal(await reason(file), 'it may not be executed');
});

test('old Pythons, and missing packages, are told', () => {
  const reason = (found: Probe) => {
    const result = plan(found, 'auto');
    return 'reason' in result ? result.reason : result.mode;
  };
  assert.equal(reason(made(all)), 'environment');
  assert.equal(reason(made(all, [3, 9, 1])), 'it is Python 3.9.1; at least 3.10 is needed');
  assert.equal(reason(made(all.filter((name) => name !== 'pygls'))), 'bundled');
  assert.equal(reason(made(['onnx', 'numpy', 'ml_dtypes'])), 'it lacks google.protobuf, orjson: pip install protobuf orjson');
});
