// SPDX-License-Identifier: Apache-2.0
//
// Build dist/extension.js (the extension host), dist/worker.mjs (its thread for layouts) and
// dist/view.js (the web view).
import * as esbuild from 'esbuild';

const common = { bundle: true, minify: !process.argv.includes('--debug'), sourcemap: false, logLevel: 'warning', legalComments: 'none' };
const node = { ...common, platform: 'node', target: 'node20' };
await Promise.all([
  esbuild.build({ ...node, format: 'cjs', entryPoints: ['src/extension.ts'], external: ['vscode'], outfile: 'dist/extension.js' }),
  // ELK can also load web-worker, which is not installed.
  esbuild.build({ ...node, format: 'esm', entryPoints: ['src/graph/worker.ts'], external: ['web-worker'], outfile: 'dist/worker.mjs',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" } }),
  esbuild.build({ ...common, format: 'iife', target: 'es2022', entryPoints: ['src/webview/main.ts'], outfile: 'dist/view.js' }),
]);
