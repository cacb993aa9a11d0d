// SPDX-License-Identifier: Apache-2.0
//
// Fill bundled/libs with the Python packages of the extension: onnxtext and its pure-Python
// dependencies. Compiled packages (onnx, numpy, protobuf, ml_dtypes, orjson) have to be installed in
// the user's interpreter.
//
//     PYTHON=python3 node scripts/bundle.mjs
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const libs = path.join(root, 'bundled/libs');
const python = process.env.PYTHON ?? 'python3';
const PURE = fs.readFileSync(path.join(root, 'scripts/bundled-requirements.txt'), 'utf8')
  .split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));

fs.rmSync(libs, { recursive: true, force: true });
const pip = (...words) => execFileSync(python,
  ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action', 'ignore', '--no-deps', '--no-compile', '--target', libs, ...words],
  // Without the native core, the bundle runs on every platform.
  { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ONNXTEXT_CORE: 'python' } });
pip('--only-binary', ':all:', '--implementation', 'py', '--abi', 'none', '--platform', 'any', '--python-version', '3.10', ...PURE);
pip(path.resolve(root, '..'));
// The commands and the manual page.
for (const name of ['bin', 'share']) fs.rmSync(path.join(libs, name), { recursive: true, force: true });

const compiled = fs.readdirSync(libs, { recursive: true }).filter((name) => /\.(so|pyd|dylib)$/.test(name));
if (compiled.length > 0) throw new Error(`not pure Python: ${compiled.join(', ')}`);
