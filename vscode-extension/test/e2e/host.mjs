// SPDX-License-Identifier: Apache-2.0
//
// Runs ../host/*.cjs inside VS Code's extension host, with the packaged extension installed:
//
//     node test/e2e/host.mjs [features] [bundled] [helpless]
//
// It is the protocol of @vscode/test-web: the page is told what to run, and calls back with what it
// says. (VS Code listens to it only with `enable-smoke-test-driver`.)
import fs from 'node:fs';
import path from 'node:path';
import { address, BARE_PYTHON, EXTENSION, makeWorkspace, openBrowser, OUT, PYTHON, remote, startCode } from './lib.mjs';

const MINUTES = 10;
/** A run's name is that of its tests; its settings are those of the user. */
const RUNS = {
  features: { 'onnxtext.interpreter': PYTHON, 'onnxtext.server.source': 'environment' },
  bundled: { 'onnxtext.interpreter': BARE_PYTHON },
  helpless: { 'onnxtext.interpreter': '/nowhere/python' },
};
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(RUNS);
const driver = path.join(EXTENSION, 'test/host');

async function run(name) {
  const workspace = makeWorkspace();
  let code;
  let browser;
  try {
    code = await startCode({ workspace, settings: RUNS[name], options: ['enable-smoke-test-driver'] });
    const opened = await openBrowser(code);
    browser = opened.browser;
    const { page } = opened;
    const done = new Promise((resolve, reject) => {
      void page.exposeFunction('codeAutomationLog', (type, words) => {
        const line = words.map(String).join(' ').replace(/%c\s*|color: \S*/g, '');
        if (process.env.VERBOSE || /\b(not )?ok - |^\W*# /.test(line)) console.log(`  ${line.trim()}`);
      });
      void page.exposeFunction('codeAutomationExit', resolve);
      setTimeout(() => { reject(new Error(`no answer within ${MINUTES} minutes`)); }, MINUTES * 60_000).unref();
    });
    await page.goto(address(code, workspace, [
      ['extensionDevelopmentPath', remote(code, driver)], ['extensionTestsPath', remote(code, path.join(driver, `${name}.cjs`))], ['skipWelcome', 'true'],
    ]));
    try {
      const status = await done;
      if (opened.strangers.size > 0) throw new Error(`asked for from the network: ${[...opened.strangers].join(', ')}`);
      return status === 0;
    } catch (error) {
      console.error(error);
      fs.mkdirSync(OUT, { recursive: true });
      await page.screenshot({ path: path.join(OUT, `host-${name}.png`) });
      return false;
    }
  } finally {
    await browser?.close();
    await code?.stop();
    fs.rmSync(workspace, { recursive: true, force: true });
  }
}

let failed = false;
for (const name of names) {
  const start = performance.now();
  const good = await run(name);
  failed ||= !good;
  console.log(`${good ? 'ok' : 'FAILED'}: ${name} in the extension host, ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
process.exit(failed ? 1 : 0);
