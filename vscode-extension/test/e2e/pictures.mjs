// SPDX-License-Identifier: Apache-2.0
//
// Writes the pictures of docs/graph.md: graphs of real exports, in a real VS Code.
//
//     node test/e2e/pictures.mjs DIRECTORY_OF_EXPORTS [NAME…]
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { address, EXTENSION, makeWorkspace, openBrowser, PYTHON, remote, startCode } from './lib.mjs';

const OUT = process.env.OUT ?? path.resolve(EXTENSION, '../docs/images');
const [exports_, ...wanted] = process.argv.slice(2);
if (exports_ === undefined) throw new Error('which directory has the exports?');

/** Name, file, line to start from (a text in it), theme, and what to do before the picture. */
const PICTURES = [
  ['graph-cnn', 'cnn_ts.onnx', undefined, 'Default Dark Modern'],
  ['graph-lm-torchscript', 'lm_ts.onnx', '/b.0/Softmax', 'Default Light Modern'],
  ['graph-lm-dynamo', 'lm_dyn.onnx', 'node_MatMul_45', 'Default Dark Modern'],
  ['graph-quantized', 'cnn_qdq.onnx', '= Conv', 'Default Light Modern'],
  ['graph-lm-int8', 'lm_int8.onnx', undefined, 'Default Dark Modern'],
  ['graph-optimized', 'lm_opt.onnx', '= com.microsoft', 'Default Light Modern', 'lm_ts.onnx'],
  ['graph-diff', 'cnn_qdq.onnx', '= Flatten', 'Default Dark Modern', 'cnn_ts.onnx'],
  ['graph-sklearn', 'skl.onnx', undefined, 'Default Light Modern'],
];

const workspace = makeWorkspace();
fs.mkdirSync(OUT, { recursive: true });
for (const theme of new Set(PICTURES.map((each) => each[3]))) {
  const chosen = PICTURES.filter(([name, , , own]) => own === theme && (wanted.length === 0 || wanted.includes(name)));
  if (chosen.length === 0) continue;
  const code = await startCode({ workspace, settings: { 'onnxtext.interpreter': PYTHON, 'onnxtext.server.source': 'environment', 'workbench.colorTheme': theme } });
  for (const [name, file, line, , against] of chosen) {
    if (against !== undefined) {
      fs.copyFileSync(path.join(exports_, against), path.join(workspace, file));
      const git = (...words) => execFileSync('git', ['-C', workspace, '-c', 'user.name=t', '-c', 'user.email=t@t', ...words]);
      git('add', '-f', file);
      git('commit', '-q', '-m', against);
    }
    fs.copyFileSync(path.join(exports_, file), path.join(workspace, file));
    const { browser, page } = await openBrowser(code, { width: 1120, height: 680 });
    try {
      await page.goto(address(code, workspace, [['openFile', remote(code, path.join(workspace, 'classifier.onnxtxt'))]]));
      await page.locator('.statusbar-item[id*="onnxtext.status"] .codicon-check').waitFor();
      await page.keyboard.press('Control+P');
      await page.locator('.quick-input-widget input').fill(file);
      await page.locator('.quick-input-list .monaco-list-row', { hasText: file }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.locator(`.tab.active[data-resource-name="${file}"]`).waitFor();
      const editor = page.locator(`.editor-instance .monaco-editor[data-uri$="/${file}"]`).first();
      await editor.locator('.view-line').nth(5).waitFor();
      await page.keyboard.press('Control+B');
      if (line !== undefined) {
        await page.keyboard.press('Control+F');
        await page.keyboard.type(line);
        await page.waitForTimeout(500);
        await page.keyboard.press('Escape');
      }
      await page.waitForTimeout(2500); // Until the types are known.
      await page.locator('.editor-actions a[aria-label*="Show as Graph"]').first().click();
      const frame = page.locator('iframe.webview.ready:visible').last().contentFrame().locator('iframe#active-frame').contentFrame();
      await frame.locator('#picture .node').first().waitFor({ state: 'attached' });
      if (against !== undefined) {
        await frame.locator('#compare').click();
        await page.locator('.quick-input-list .monaco-list-row', { hasText: 'HEAD' }).click();
        await frame.locator('.comparing').waitFor({ state: 'attached' });
      }
      await page.mouse.move(5, 675);
      await page.waitForTimeout(1500);
      await page.screenshot({ path: path.join(OUT, `${name}.png`) });
      console.log(`${name}: ${fs.statSync(path.join(OUT, `${name}.png`)).size} bytes`);
    } catch (error) {
      await page.screenshot({ path: path.join(OUT, 'failed.png') });
      throw error;
    } finally {
      await browser.close();
    }
  }
  await code.stop();
}
fs.rmSync(workspace, { recursive: true, force: true });
process.exit(0);
