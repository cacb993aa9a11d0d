// SPDX-License-Identifier: Apache-2.0
//
// Writes pictures of the beginnings of texts, in a real VS Code, for docs/comparison.md.
//
//     node test/e2e/texts.mjs SUFFIX TEXT.onnxtxt[:LINE]…
import fs from 'node:fs';
import path from 'node:path';
import { address, EXTENSION, openBrowser, PYTHON, remote, startCode } from './lib.mjs';

const OUT = process.env.OUT ?? path.resolve(EXTENSION, '../docs/images');
const [suffix, ...texts] = process.argv.slice(2);
if (suffix === undefined || texts.length === 0) throw new Error('which texts, and how are their pictures called?');

const workspace = fs.mkdtempSync('/tmp/onnxtext-workspace-');
const code = await startCode({
  workspace,
  settings: {
    'onnxtext.interpreter': PYTHON, 'onnxtext.server.source': 'environment', 'workbench.colorTheme': 'Default Light Modern',
    'editor.fontSize': 11, 'editor.lineHeight': 15, 'workbench.activityBar.location': 'hidden', 'workbench.statusBar.visible': true,
    'breadcrumbs.enabled': false, 'editor.renderWhitespace': 'none', 'editor.stickyScroll.enabled': false, 'problems.visibility': true,
  },
});
try {
  for (const wanted of texts) {
    const [, text, line] = /^(.*?)(?::([0-9]+))?$/.exec(wanted);
    const name = path.basename(text);
    fs.copyFileSync(text, path.join(workspace, name));
    const { browser, page } = await openBrowser(code, { width: 780, height: 1030 });
    await page.goto(address(code, workspace, [['openFile', remote(code, path.join(workspace, name))]]));
    const editor = page.locator(`.editor-instance .monaco-editor[data-uri$="/${name}"]`).first();
    await editor.locator('.view-line').nth(5).waitFor();
    await page.keyboard.press('Control+B');
    await page.locator('.statusbar-item[id*="onnxtext.status"] .codicon-check').waitFor();
    await page.waitForTimeout(Number(process.env.WAIT ?? 6000)); // Until the semantic tokens and the findings have arrived.
    if (line !== undefined) {
      await page.keyboard.press('Control+G');
      await page.locator('.quick-input-widget input').fill(`:${line}`);
      await page.keyboard.press('Enter');
      await page.waitForTimeout(1500);
    }
    await page.mouse.move(5, 1000);
    const file = path.join(OUT, `text-${path.basename(name, '.onnxtxt').replaceAll('_', '-')}-${suffix}.png`);
    await page.locator('.editor-instance').first().screenshot({ path: file });
    console.log(`${file}: ${fs.statSync(file).size} bytes`);
    await browser.close();
  }
} finally {
  await code.stop();
  fs.rmSync(workspace, { recursive: true, force: true });
}
process.exit(0);
