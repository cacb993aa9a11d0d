// SPDX-License-Identifier: Apache-2.0
//
// Fail if a .vsix has unexpected or missing files. Of the bundled Python, only packages are checked.
//
//     node scripts/contents.mjs onnxtext.vsix
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const file = process.argv[2];
const WANTED = [
  '[Content_Types].xml', 'extension.vsixmanifest',
  ...[
    'package.json', 'readme.md', 'changelog.md', 'LICENSE.txt', 'THIRD-PARTY-NOTICES.md', 'language-configuration.json',
    'dist/extension.js', 'dist/worker.mjs', 'dist/view.js',
    'media/icon.png', 'media/file-light.svg', 'media/file-dark.svg', 'media/view.css',
    'media/screenshots/editor.png', 'media/screenshots/binary.png', 'media/screenshots/graph.png',
    'snippets/onnxtxt.json', 'syntaxes/onnxtxt.tmLanguage.json', 'syntaxes/markdown-onnxtxt.tmLanguage.json',
    ...[
      'attr', 'attrs', 'cattr', 'cattrs', 'click', 'exceptiongroup', 'lark', 'lsprotocol', 'onnxtext', 'pygls',
      'tomli', 'typing_extensions.py',
    ].map((name) => `bundled/libs/${name}`),
  ].map((name) => `extension/${name}`),
];
const MAX_BYTES = 6 * 1024 * 1024;

const listed = execFileSync(process.env.PYTHON ?? 'python3', ['-m', 'zipfile', '-l', file], { encoding: 'utf8', maxBuffer: 1 << 26 })
  .split('\n').slice(1).filter((line) => line !== '').map((line) => line.split(/\s{2,}|\s+\d{4}-/)[0].trim());
const names = new Set(listed
  .map((name) => name.replace(/^(extension\/bundled\/libs\/[^/]+)\/.*/, '$1'))
  .filter((name) => !/\.dist-info$/.test(name)));
const missing = WANTED.filter((name) => !names.has(name));
const strange = [...names].filter((name) => !WANTED.includes(name));
const caches = listed.filter((name) => /__pycache__|\.pyc$|\.(so|pyd)$|node_modules|\.map$/.test(name));
const bytes = fs.statSync(file).size;
if (missing.length + strange.length + caches.length > 0 || bytes > MAX_BYTES) {
  console.error(`${file}: ${bytes} bytes; missing: ${missing.join(', ') || 'nothing'}; too much: ${[...strange, ...caches].join(', ') || 'nothing'}`);
  process.exit(1);
}
console.log(`${file}: ${listed.length} files, ${bytes} bytes, all as it should be`);
