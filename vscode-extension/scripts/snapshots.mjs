// SPDX-License-Identifier: Apache-2.0
//
// Compare the scopes of the grammar with the snapshots beside the texts: all of ../examples, and
// language.onnxtxt. `node scripts/snapshots.mjs -u` rewrites the snapshots.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, 'test/grammar/snap');
const examples = fs.readdirSync(path.join(root, '../examples')).filter((name) => name.endsWith('.onnxtxt'));
for (const name of examples) fs.copyFileSync(path.join(root, '../examples', name), path.join(folder, name));

const texts = fs.readdirSync(folder).filter((name) => name.endsWith('.onnxtxt'));
const update = process.argv.includes('-u');
// The tool silently creates missing snapshots; here they are an error.
const missing = texts.filter((name) => !fs.existsSync(path.join(folder, `${name}.snap`)));
const stale = fs.readdirSync(folder).filter((name) => name.endsWith('.snap') && !texts.includes(name.slice(0, -'.snap'.length)));
if (!update && missing.length + stale.length > 0) {
  console.error(`snapshots without a text: ${stale.join(', ') || 'none'}; texts without a snapshot: ${missing.join(', ') || 'none'}`);
  process.exit(1);
}
for (const name of stale) fs.rmSync(path.join(folder, name));
const tool = path.join(root, 'node_modules/.bin/vscode-tmgrammar-snap');
const { status } = spawnSync(tool, [...(update ? ['-u'] : []), 'test/grammar/snap/*.onnxtxt'], { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
