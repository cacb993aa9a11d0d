// SPDX-License-Identifier: Apache-2.0
//
// `onnxtext.show` in a real JupyterLab: colored, folded by a click, with statistics of weights; as
// plain text where a notebook is not trusted. JUPYTER is a Python with jupyterlab and onnxtext.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { EXTENSION, freePort, openBrowser, OUT, PATIENCE } from './lib.mjs';

const JUPYTER = process.env.JUPYTER ?? path.resolve(EXTENSION, '../.ci/extension-cache/jupyter/bin/python');
const EVIL = '</pre><img src=x onerror=window.broken=1><script>window.broken = 1</script>';
const CODE = `\
import numpy as np, onnx, onnxtext
from onnx import helper, numpy_helper
text = """<ir_version: 10, opset_import: [21]>
net (float[N, 64] x, bool flag) => (float[N, 64] z) { h = MatMul (x, w0)
  z = If (flag) <
    then_branch = yes () => (float[N, 64] p) { p = Relu (h) },
    else_branch = no () => (float[N, 64] q) { q = Neg (h) k = Abs (q) }> }"""
model = onnxtext.loads(text)
model.graph.doc_string = ${JSON.stringify(EVIL)}
weights = np.random.default_rng(1).standard_normal((64, 64), dtype=np.float32)
model.graph.initializer.extend([numpy_helper.from_array(weights, f"w{i}") for i in range(25)])
onnxtext.show(model)`;
const CODE_CELL = { cell_type: 'code', id: 'a', metadata: {}, execution_count: null, outputs: [], source: CODE };
const NOTEBOOK = { cells: [CODE_CELL], metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } }, nbformat: 4, nbformat_minor: 5 };

const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'onnxtext-jupyter-'));
const write = (name, notebook) => { fs.writeFileSync(path.join(profile, name), JSON.stringify(notebook)); };
const read = (name) => JSON.parse(fs.readFileSync(path.join(profile, name), 'utf8'));

/** Starts JupyterLab in a profile of its own on a port of this machine only. */
async function startLab() {
  const port = await freePort();
  const log = path.join(profile, 'lab.log');
  const output = fs.openSync(log, 'w');
  const child = spawn(JUPYTER, [
    '-m', 'jupyterlab', '--no-browser', '--allow-root', '--ServerApp.ip=127.0.0.1', `--ServerApp.port=${port}`, '--ServerApp.port_retries=0',
    '--IdentityProvider.token=', '--PasswordIdentityProvider.password_required=False', `--ServerApp.root_dir=${profile}`,
    '--LabApp.expose_app_in_browser=True', '--LabApp.extension_manager=readonly', '--LabApp.news_url=None', '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate',
  ], {
    env: { PATH: process.env.PATH, HOME: profile, LANG: 'C.UTF-8', JUPYTER_CONFIG_DIR: profile, JUPYTER_DATA_DIR: profile, JUPYTER_RUNTIME_DIR: profile, IPYTHONDIR: profile },
    stdio: ['ignore', output, output], detached: true,
  });
  const exited = new Promise((resolve) => { child.once('exit', resolve); });
  const signal = (name) => { try { process.kill(-child.pid, name); } catch { /* it has ended */ } };
  const stop = async () => {
    signal('SIGTERM');
    let timer;
    await Promise.race([exited, new Promise((resolve) => { timer = setTimeout(resolve, 8000); })]);
    clearTimeout(timer);
    signal('SIGKILL');
  };
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    if (await fetch(`${url}/api/status`).then((answer) => answer.ok, () => false)) return { url, stop };
    if (child.exitCode !== null || tries > 600) {
      await stop();
      throw new Error(`JupyterLab did not start:\n${fs.readFileSync(log, 'utf8')}`);
    }
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}

/** Starts a command of JupyterLab; some end only after a dialog. */
const command = (page, name, options) => page.evaluate(([each, own]) => { window.jupyterapp.commands.execute(each, own); }, [name, options]);

async function open(page, lab, name) {
  await page.goto(`${lab.url}/doc/tree/${name}`);
  await page.locator('.jp-Notebook .jp-CodeCell').first().waitFor();
  await page.waitForFunction(() => window.jupyterapp !== undefined);
}

/** The shown model: its text, its colors by word, and which folds are open. */
const looks = (page) => page.locator('.jp-OutputArea-output pre').first().evaluate((pre) => ({
  text: pre.textContent,
  colors: Object.fromEntries([...pre.querySelectorAll('span')].map((span) => [span.textContent.trim(), getComputedStyle(span).color])),
  plain: getComputedStyle(pre).color,
  space: getComputedStyle(pre).whiteSpace,
  folds: [...pre.querySelectorAll('details')].map((fold) => [fold.querySelector('summary').textContent.trim(), fold.open]),
}));

/** The contrast of two colors, as WCAG defines it. */
function contrast(one, other) {
  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((part) => Number(part) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const background = (page) => page.locator('.jp-OutputArea-output pre').first().evaluate((pre) => {
  for (let at = pre; at !== null; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (!/^(rgba\(0, 0, 0, 0\)|transparent)$/.test(color)) return color;
  }
  return 'rgb(255, 255, 255)';
});

function assertText(text) {
  assert.match(text, /float\[64, 64\] w0 = blob"[0-9a-f]+",? +# min -[\d.]+, max [\d.]+, mean \S+, std [\d.]+/);
  assert.match(text, /then_branch = yes \(\) => \(/);
  assert.ok(text.includes(EVIL), 'markup in a model is text');
  assert.doesNotMatch(text, /base64|resources \{/);
}

function assertColored(found) {
  assertText(found.text);
  const words = ['float', 'MatMul', '64', 'then_branch', 'net'];
  for (const word of words) assert.ok(found.colors[word], `${word} has a color: ${JSON.stringify(found.colors)}`);
  assert.ok(new Set(words.map((word) => found.colors[word])).size >= 3, JSON.stringify(found.colors));
  assert.ok(words.some((word) => found.colors[word] !== found.plain));
}

async function testOfARun(page, lab) {
  write('run.ipynb', NOTEBOOK);
  await open(page, lab, 'run.ipynb');
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle');
  await command(page, 'notebook:run-all-cells');
  const pre = page.locator('.jp-OutputArea-output pre.onnxtext-model');
  await pre.waitFor();
  const found = await looks(page);
  assertColored(found);
  assert.ok(found.folds.some(([, open_]) => !open_), 'a long list of constants is folded at first');
  // A click folds what stands in brackets, another one unfolds it.
  const line = pre.locator('summary', { hasText: 'z = If' });
  const inner = pre.getByText('MatMul', { exact: true });
  const branch = pre.getByText('else_branch', { exact: true });
  assert.ok(await branch.isVisible());
  await line.click({ position: { x: 4, y: 4 } });
  assert.ok(!await branch.isVisible());
  assert.ok(await inner.isVisible());
  await line.click({ position: { x: 4, y: 4 } });
  assert.ok(await branch.isVisible());
  const weight = pre.getByText('# min').last();
  assert.ok(!await weight.isVisible());
  await pre.locator('details:not([open]) > summary').click({ position: { x: 4, y: 4 } });
  assert.ok(await weight.isVisible());
  // The mark of a fold is drawn: it needs no font.
  const mark = await line.evaluate((summary) => {
    const style = getComputedStyle(summary, '::before');
    return { color: style.borderTopColor, left: Number.parseFloat(style.left), room: Number.parseFloat(getComputedStyle(summary.closest('pre')).paddingLeft) };
  });
  assert.equal(mark.color, found.plain);
  assert.ok(mark.left < 0 && -mark.left <= mark.room, `it is in sight: ${JSON.stringify(mark)}`);
  // Every color can be read, also on a dark page.
  for (const dark of [false, true]) {
    if (dark) await command(page, 'apputils:change-theme', { theme: 'JupyterLab Dark' });
    if (dark) await page.waitForFunction(() => document.body.dataset.jpThemeName === 'JupyterLab Dark');
    const [now, behind] = [await looks(page), await background(page)];
    for (const [word, color] of Object.entries(now.colors)) assert.ok(contrast(color, behind) >= 3, `${word} is ${color} on ${behind}`);
  }
  await command(page, 'apputils:change-theme', { theme: 'JupyterLab Light' });
  await command(page, 'docmanager:save');
  await page.waitForFunction(() => !document.querySelector('.jp-mod-dirty'));
}

/** What was run and saved here is trusted when it is opened again. */
async function testOfASavedNotebook(page, lab) {
  await open(page, lab, 'run.ipynb');
  await page.locator('.jp-OutputArea-output pre').first().waitFor();
  assertColored(await looks(page));
}

/** A notebook from elsewhere: JupyterLab takes styles out of its outputs; the text stays readable. */
async function testOfAnUntrustedNotebook(page, lab) {
  const notebook = read('run.ipynb');
  const [cell] = notebook.cells;
  cell.source = [...cell.source, '\n# from elsewhere']; // another notebook than the signed one
  write('elsewhere.ipynb', notebook);
  await open(page, lab, 'elsewhere.ipynb');
  await page.locator('.jp-OutputArea-output pre').first().waitFor();
  const found = await looks(page);
  assertText(found.text);
  assert.equal(found.space.startsWith('pre'), true, 'lines stay lines');
  assert.deepEqual([...new Set(Object.values(found.colors))].filter((color) => color !== found.plain), [], 'no colors');
  await command(page, 'notebook:trust');
  await page.locator('.jp-Dialog button.jp-mod-warn, .jp-Dialog button.jp-mod-accept').last().click();
  await page.locator('.jp-OutputArea-output pre.onnxtext-model').waitFor();
  await page.waitForFunction(() => {
    const pre = document.querySelector('.jp-OutputArea-output pre.onnxtext-model');
    return pre !== null && [...pre.querySelectorAll('span')].some((span) => getComputedStyle(span).color !== getComputedStyle(pre).color);
  });
  assertColored(await looks(page));
}

const TESTS = [['a notebook that is run', testOfARun], ['a saved notebook', testOfASavedNotebook], ['an untrusted notebook', testOfAnUntrustedNotebook]];
let failed = 0;
let lab;
try {
  lab = await startLab();
  for (const [name, test] of TESTS) {
    const start = performance.now();
    const { browser, page, strangers } = await openBrowser({ profile });
    page.setDefaultTimeout(PATIENCE);
    try {
      await test(page, lab);
      assert.equal(await page.evaluate(() => window.broken), undefined, 'nothing in a model is run');
      assert.deepEqual([...strangers], [], 'nothing is asked for from the network');
      console.log(`ok: ${name}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      console.error(`FAILED: ${name}: ${error.stack}`);
      fs.mkdirSync(OUT, { recursive: true });
      await page.screenshot({ path: path.join(OUT, `${name.replace(/ /g, '-')}.png`) });
    } finally {
      await browser.close();
    }
  }
} finally {
  await lab?.stop();
  fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exit(failed === 0 ? 0 : 1);
