// SPDX-License-Identifier: Apache-2.0
//
// What a person sees, asserted in the pages of a real VS Code: colours, squiggle, hover, the graph
// view, restricted mode. With --screenshots it writes those of the README.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { address, EXTENSION, makeWorkspace, openBrowser, OUT, PATIENCE, PYTHON, remote, startCode } from './lib.mjs';

const SHOTS = path.join(EXTENSION, 'media/screenshots');
const SETTINGS = { 'onnxtext.interpreter': PYTHON, 'onnxtext.server.source': 'environment' };
const keep = process.argv.includes('--screenshots');

/** Runs tests one after the other in one VS Code, each in a page of its own. Says how many failed. */
async function withCode(tests, startOptions) {
  if (tests.length === 0) return 0;
  const workspace = makeWorkspace();
  let code;
  let failed = 0;
  try {
    code = await startCode({ workspace, settings: SETTINGS, ...startOptions });
    for (const [name, file, test] of tests) {
      const start = performance.now();
      const { browser, page, strangers } = await openBrowser(code, { width: 1280, height: 760 });
      const violations = [];
      page.on('console', (message) => {
        if (/Content Security Policy/.test(message.text()) && /view\.(js|css)|onnxtext/.test(message.text())) violations.push(message.text());
      });
      try {
        await page.goto(address(code, workspace, [['openFile', remote(code, path.join(workspace, file))]]));
        await test(page);
        assert.deepEqual([...strangers], [], 'nothing is asked for from the network');
        assert.deepEqual(violations, []);
        console.log(`ok: ${name}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
      } catch (error) {
        failed += 1;
        console.error(`FAILED: ${name}: ${error.stack}`);
        fs.mkdirSync(OUT, { recursive: true });
        await page.screenshot({ path: path.join(OUT, `ui-${name}.png`) });
      } finally {
        await browser.close();
      }
    }
  } finally {
    await code?.stop();
    fs.rmSync(workspace, { recursive: true, force: true });
  }
  return failed;
}

async function screenshot(page, name) {
  if (!keep) return;
  fs.mkdirSync(SHOTS, { recursive: true });
  await page.mouse.move(5, 755);
  await page.waitForTimeout(600); // Until tooltips have gone.
  await page.screenshot({ path: path.join(SHOTS, `${name}.png`) });
}

const editorOf = (page, file) => page.locator(`.editor-instance .monaco-editor[data-uri$="/${file}"]`).first();

/** The colour of each word in sight. */
const coloursOf = (editor) => editor.evaluate((element) => Object.fromEntries(
  [...element.querySelectorAll('.view-line > span > span')]
    .map((span) => [span.textContent.replace(/\u00a0/g, ' ').trim(), getComputedStyle(span).color])
    .filter(([text]) => text !== '')));

/** What `find` finds, once it finds something. */
async function until(what, find) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await find();
    if (found) return found;
    if (Date.now() > end) throw new Error(`no ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}

async function untilColours(editor, good, what) {
  let colours;
  return await until(what, async () => {
    colours = await coloursOf(editor);
    return good(colours) && colours;
  }).catch((error) => { throw new Error(`${error.message}: ${JSON.stringify(colours)}`); });
}

/** Clicks, though something lies above it, once it no longer moves. */
async function clickUnder(locator) {
  await until('element that stands still', async () => {
    const [before, after] = [await locator.boundingBox(), await locator.boundingBox()];
    return before && JSON.stringify(before) === JSON.stringify(after);
  });
  await locator.click({ force: true });
}

const distinct = (colours, words) => new Set(words.map((word) => colours[word])).size === words.length && words.every((word) => colours[word]);

async function quickOpen(page, file) {
  await page.keyboard.press('Control+P');
  const input = page.locator('.quick-input-widget input');
  await input.waitFor();
  await input.fill(file);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: file }).first().waitFor();
  await page.keyboard.press('Enter');
}

async function goTo(page, line) {
  await page.keyboard.press('Control+G');
  const input = page.locator('.quick-input-widget input');
  await input.waitFor();
  await input.fill(`:${line}`);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: String(line) }).first().waitFor();
  await page.keyboard.press('Enter');
}

/** The frame of the graph view in sight. */
async function graphFrame(page) {
  const outer = page.locator('iframe.webview.ready:visible').last().contentFrame();
  const frame = outer.locator('iframe#active-frame').contentFrame();
  await frame.locator('#picture .node').first().waitFor({ state: 'attached' });
  return frame;
}

async function language(page) {
  const editor = editorOf(page, 'broken.onnxtxt');
  await editor.waitFor();
  const words = ['float', 'broken', 'Sotfmax', 'axis', '-1'];
  const colours = await untilColours(editor, (found) => distinct(found, words), 'words of each kind have a colour of their own');
  assert.equal(colours['W'], colours['h'], 'values are alike');

  await editor.locator('.squiggly-error').first().waitFor();
  const problems = page.locator('.statusbar-item[id="status.problems"] a');
  await page.waitForFunction(() => /1/.test(document.querySelector('.statusbar-item[id="status.problems"] a')?.getAttribute('aria-label') ?? ''));
  assert.match(await problems.getAttribute('aria-label'), /1/);
  await page.locator('.statusbar-item[id*="onnxtext.status"]', { hasText: 'onnxtext' }).waitFor();

  const hover = page.locator('.monaco-hover:not(.hidden) .monaco-hover-content', { hasText: 'MatMul' });
  await until('hover', async () => {
    await page.mouse.move(5, 755);
    await editor.locator('.view-line span', { hasText: /^MatMul$/ }).first().hover();
    // New colours or findings may hide it.
    return await hover.waitFor({ timeout: 10_000 }).then(() => true, () => false);
  });
  assert.match(await hover.innerText(), /matrix product|numpy\.matmul/i);
  if (keep) {
    fs.mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: path.join(SHOTS, 'editor.png') });
  }
  await page.mouse.move(5, 755);

  await quickOpen(page, 'README.md');
  const fence = editorOf(page, 'README.md');
  await untilColours(fence, (found) => found['Relu'] === colours['Sotfmax'] && found['Relu'] !== found['y'], 'fences in Markdown have the colours');

  await quickOpen(page, 'model.onnx');
  const binary = editorOf(page, 'model.onnx');
  await untilColours(binary, (found) => found['MatMul'] === colours['Sotfmax'], 'the text of a binary has colours');
  // Only what is read-only has this button.
  await page.locator('.editor-actions a[aria-label*="Allow Edits"]').first().waitFor();
  await screenshot(page, 'binary');
}

async function graph(page) {
  const editor = editorOf(page, 'collatz.onnxtxt');
  await editor.waitFor();
  await page.locator('.statusbar-item[id*="onnxtext.status"] .codicon-check').waitFor();
  await page.keyboard.press('Control+B'); // More room.
  await page.locator('.editor-actions a[aria-label*="Show as Graph"]').first().click();
  const frame = await graphFrame(page);
  await frame.locator('.node .title', { hasText: /^Loop$/ }).waitFor({ state: 'attached' });
  await frame.locator('#fit').click(); // Only what is in sight is in the page.
  await frame.locator('.node .title', { hasText: /^Reshape$/ }).first().waitFor({ state: 'attached' });
  const titles = await frame.locator('.node .title').allTextContents();
  for (const title of ['start', 'Loop', 'If', 'Mod', 'Div', 'Reshape', 'path']) assert.ok(titles.includes(title), `${title} is drawn: ${titles.join(' ')}`);
  assert.deepEqual((await frame.locator('.head text').allTextContents()).sort(), ['▾ halve', '▾ step', '▾ triple']);
  // A sub-graph lies in the node that holds it.
  const [loop, branch, mod] = await frame.locator('#picture').evaluate((svg) => ['Loop', 'If', 'Mod'].map((title) => {
    const node = [...svg.querySelectorAll('.node')].find((each) => each.querySelector('.title')?.textContent === title);
    return node.querySelector('.frame').getBoundingClientRect().toJSON();
  }));
  for (const [inner, outer] of [[mod, loop], [branch, loop]]) {
    assert.ok(outer.left <= inner.left && outer.top <= inner.top && inner.right <= outer.right && inner.bottom <= outer.bottom);
  }

  // Nothing lies above the edges in sub-graphs. VS Code may resize the frame at any time, so a middle
  // of an edge outside of the frame, where there is no element, does not count.
  const above = await frame.locator('#picture').evaluate((svg) => [...svg.querySelectorAll('.edge .line')].flatMap((line) => {
    const middle = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
    const shown = document.elementFromPoint(middle.x, middle.y);
    return shown ? [shown.closest('.node')?.getAttribute('aria-label') ?? null] : [];
  }));
  assert.ok(above.length > 10, `${above.length} edges are in sight`);
  assert.deepEqual(above.filter((node) => node !== null), [], 'nodes that lie above an edge');

  // From the text to the drawing.
  await editor.locator('.view-lines').click();
  const lines = fs.readFileSync(path.join(EXTENSION, '../examples/collatz.onnxtxt'), 'utf8').split('\n');
  const lineOf = (text) => lines.findIndex((line) => line.includes(text)) + 1;
  await goTo(page, lineOf('half = Div'));
  await page.keyboard.press('Home');
  await frame.locator('.node.selected .title', { hasText: /^Div$/ }).waitFor({ state: 'attached' });
  await screenshot(page, 'graph');

  // From the drawing to the text.
  await frame.locator('.node', { has: frame.locator('.title', { hasText: /^Mod$/ }) }).locator('.frame').click();
  await editor.locator('.line-numbers.active-line-number', { hasText: new RegExp(`^${lineOf('remainder = Mod')}$`) }).waitFor();
  await frame.locator('.node.selected .title', { hasText: /^Mod$/ }).waitFor({ state: 'attached' });

  // A click closes a graph, and opens it again.
  await clickUnder(frame.locator('.head', { hasText: 'halve' }));
  await clickUnder(frame.locator('.node .row.body', { hasText: 'halve' }));
  await frame.locator('.head', { hasText: 'halve' }).waitFor({ state: 'attached' });

  // An edit changes the drawing.
  await editor.locator('.view-line').first().click();
  await goTo(page, lineOf('remainder = Mod'));
  await editor.locator('.view-lines').press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('spare = HardSwish (n)');
  await frame.locator('.node .title', { hasText: /^HardSwish$/ }).waitFor({ state: 'attached' });

  // Search, and keys.
  await frame.locator('#search').fill('else');
  await frame.locator('#search').fill('reshape');
  await frame.locator('#matches', { hasText: /^2$/ }).waitFor();
  await frame.locator('#search').press('Enter');
  await frame.locator('.node.selected .title', { hasText: /^Reshape$/ }).waitFor({ state: 'attached' });
  // Constants are rows of their users.
  const rows = frame.locator('.node .row.constant .value');
  assert.ok((await rows.allTextContents()).length > 2);
  await frame.locator('#constants').uncheck();
  await frame.locator('.node .row.constant').first().waitFor({ state: 'detached' });
  // The details of the selected node; what differs from the file, which has no HardSwish.
  await frame.locator('#details h2', { hasText: /^Reshape$/ }).waitFor();
  assert.match(await frame.locator('#details').innerText(), /INPUTS[^]*shape/i);
  await frame.locator('#compare').click();
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'HEAD' }).click();
  await frame.locator('#fit').click();
  await frame.locator('.comparing .node.added .title', { hasText: /^HardSwish$/ }).waitFor({ state: 'attached' });
  assert.equal(await frame.locator('.node.changed .title, .node.removed .title').count(), 0);
}

/** In CI, limits are four times as high: other jobs run beside the editor. */
const limitOf = (idleLimit) => (process.env.CI ? 4 * idleLimit : idleLimit);

function inTime(milliseconds, idleLimit, what) {
  const limit = limitOf(idleLimit);
  assert.ok(milliseconds < limit, `${what}: ${Math.round(milliseconds)} ms, more than ${limit} ms`);
}

/** 5,000 nodes: how long until they are seen, and how smoothly hundreds of them move. */
async function large(page) {
  await editorOf(page, 'classifier.onnxtxt').waitFor();
  await page.locator('.statusbar-item[id*="onnxtext.status"] .codicon-check').waitFor();
  // In the first seconds, a browser takes 3 s to start the service worker of VS Code's web views.
  await page.waitForTimeout(5000);
  await quickOpen(page, 'deep.onnxtxt');
  await editorOf(page, 'deep.onnxtxt').waitFor();
  const start = performance.now();
  await page.locator('.editor-actions a[aria-label*="Show as Graph"]').first().click();
  const frame = await graphFrame(page);
  const seen = performance.now() - start;
  console.log(`# graph of 5,003 nodes: in sight ${Math.round(seen)} ms after the click`);
  inTime(seen, 15_000, 'until the graph is in sight');
  const count = () => frame.locator('.node').count();
  const picture = frame.locator('#picture');
  // The first part opens on a click, is closed and opened by keys; then two more open.
  for (const part of [1, 2, 3]) {
    await frame.locator('#fit').click();
    await frame.locator('.node.group', { hasText: `part ${part} of` }).first().locator('.frame').click();
    await frame.locator('.head', { hasText: `part ${part} of` }).waitFor({ state: 'attached' });
    if (part === 1) {
      await picture.focus();
      await picture.press('ArrowDown');
      await picture.press('Backspace');
      await frame.locator('.node.group.selected', { hasText: 'part 1 of' }).waitFor({ state: 'attached' });
      await picture.press(' ');
      await frame.locator('.head', { hasText: 'part 1 of' }).waitFor({ state: 'attached' });
    }
  }
  assert.ok((await count()) > 0);
  const area = await picture.boundingBox();
  const [middleX, middleY] = [area.x + area.width / 2, area.y + area.height / 2];
  /** Moves as a person does, and says how long the frames were. */
  const measure = async (what, moves) => {
    await picture.evaluate((svg) => {
      svg.frames = [];
      let last = performance.now();
      const tick = () => {
        svg.frames.push(performance.now() - last);
        last = performance.now();
        svg.ticking = requestAnimationFrame(tick);
      };
      svg.ticking = requestAnimationFrame(tick);
    });
    await moves();
    const times = await picture.evaluate((svg) => {
      window.cancelAnimationFrame(svg.ticking);
      return svg.frames.sort((a, b) => a - b);
    });
    const [median, high] = [0.5, 0.95].map((part) => Math.round(times[Math.floor(times.length * part)]));
    const shown = await picture.locator('.node, .boxes').count();
    console.log(`# ${what}: a frame takes ${median} ms in the median, ${high} ms in the 95th percentile; ${shown} nodes or paths of nodes in the page`);
    assert.ok(shown > 0, 'something is in sight');
    return high;
  };
  const wheel = (steps, delta) => async () => {
    await page.mouse.move(middleX, middleY);
    for (let step = 0; step < steps; step += 1) {
      await page.mouse.wheel(0, delta);
      await page.waitForTimeout(16);
    }
  };
  const drag = async () => {
    for (let stroke = 0; stroke < 3; stroke += 1) {
      await page.mouse.move(middleX, area.y + area.height - 20);
      await page.mouse.down();
      for (let y = area.y + area.height - 20; y > area.y + 20; y -= 25) {
        await page.mouse.move(middleX, y);
        await page.waitForTimeout(8);
      }
      await page.mouse.up();
    }
  };
  let slowest;
  // What else runs on the machine may slow down a measurement.
  for (let tries = 0; tries < 3 && !(slowest < limitOf(150)); tries += 1) {
    slowest = Math.max(await measure('dragging', drag), await measure('away from it', wheel(20, 100)));
    await frame.locator('#fit').click();
    await until('view from afar, with less than 200 elements', async () => await picture.locator('*').count() < 200);
    slowest = Math.max(slowest, await measure('towards it', wheel(30, -100)));
    await frame.locator('#fit').click();
  }
  inTime(slowest, 150, 'a frame of a moving graph');
}

async function restricted(page) {
  const editor = editorOf(page, 'broken.onnxtxt');
  await editor.waitFor();
  await untilColours(editor, (found) => distinct(found, ['float', 'broken', 'Sotfmax', 'axis', '-1']), 'colours need no trust');
  await page.locator('.statusbar-item[id*="onnxtext.status"] .codicon-shield').waitFor();
  assert.equal(await editor.locator('.squiggly-error').count(), 0);
}

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = (tests) => tests.filter(([name]) => wanted.length === 0 || wanted.includes(name));
const failed = await withCode(chosen([
  ['language', 'broken.onnxtxt', language],
  ['graph', 'collatz.onnxtxt', graph],
  ['large', 'classifier.onnxtxt', large],
]), {}) + await withCode(chosen([['restricted', 'broken.onnxtxt', restricted]]), { trusting: false });
process.exit(failed > 0 ? 1 : 0);
