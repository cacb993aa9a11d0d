// SPDX-License-Identifier: Apache-2.0
//
// A real VS Code for the tests: code-server with the packaged extension, in a profile of its own, and
// Chromium to show it. `.ci/extension` installs both.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

export const EXTENSION = path.resolve(import.meta.dirname, '../..');
const CACHE = path.resolve(EXTENSION, '../.ci/extension-cache');
const CODE_SERVER = path.join(CACHE, 'code-server/node_modules/code-server');
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const VSIX = path.join(EXTENSION, 'onnxtext.vsix');
/** Where screenshots of failures go. */
export const OUT = path.join(EXTENSION, 'test/out');
/** With all of onnxtext; and with nothing but what an ONNX user has. */
export const PYTHON = process.env.PYTHON ?? path.resolve(EXTENSION, '../.venv/bin/python');
export const BARE_PYTHON = path.join(CACHE, 'bare/bin/python');

if (Number(process.versions.node.split('.')[0]) < 24) throw new Error(`code-server needs Node 24; this is ${process.version}`);

export const freePort = () => new Promise((resolve, reject) => {
  const server = net.createServer();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

/** Without the lines of bundles that Node quotes. */
const shortened = (text) => text.split('\n').filter((line) => line.length < 400).join('\n');

/** A folder with models, made anew. */
export function makeWorkspace() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'onnxtext-workspace-'));
  execFileSync(PYTHON, [path.join(import.meta.dirname, 'workspace.py'), folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  // For comparisons with the last commit.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
  const git = (...words) => execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { env });
  git('init', '-q');
  git('add', '*.onnxtxt');
  git('commit', '-q', '-m', 'models');
  return folder;
}

let extensions;

/** The folder with the installed package, which all VS Codes of this process use. */
function installedExtensions(env) {
  if (extensions !== undefined) return extensions;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'onnxtext-extensions-'));
  process.once('exit', () => { fs.rmSync(folder, { recursive: true, force: true }); });
  const installed = spawnSync(process.execPath, [CODE_SERVER, '--extensions-dir', folder, '--user-data-dir', path.join(env.HOME, 'install'), '--install-extension', VSIX], { env, encoding: 'utf8' });
  if (installed.status !== 0) throw new Error(`the package could not be installed: ${shortened(installed.stdout + installed.stderr)}`);
  extensions = folder;
  return extensions;
}

/** Starts VS Code, with the package installed, in a profile of its own on a port of this machine only. */
export async function startCode({ workspace, settings = {}, options = [], trusting = true }) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'onnxtext-code-'));
  const data = path.join(profile, 'data');
  fs.mkdirSync(path.join(data, 'User'), { recursive: true });
  fs.mkdirSync(path.join(data, 'Machine'), { recursive: true });
  fs.writeFileSync(path.join(profile, 'config.yaml'), 'auth: none\ncert: false\n');
  fs.writeFileSync(path.join(data, 'User/settings.json'), JSON.stringify({
    'workbench.startupEditor': 'none', 'workbench.colorTheme': 'Default Dark Modern', 'telemetry.telemetryLevel': 'off',
    'extensions.autoUpdate': false, 'extensions.autoCheckUpdates': false, 'extensions.ignoreRecommendations': true, 'update.mode': 'none',
    'security.workspace.trust.enabled': !trusting, 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.banner': 'never',
    'chat.disableAIFeatures': true, 'workbench.secondarySideBar.defaultVisibility': 'hidden', 'workbench.enableExperiments': false,
    'editor.minimap.enabled': false, 'editor.hover.delay': 100, 'git.enabled': false, 'files.autoSave': 'off', 'window.restoreWindows': 'none',
  }));
  // VS Code in a browser is a remote one: the paths of a machine stand in the settings of that machine.
  fs.writeFileSync(path.join(data, 'Machine/settings.json'), JSON.stringify(settings));
  // Its own home, and none of the variables that tell code-server it runs in itself.
  const env = {
    PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, HOME: profile, LANG: 'C.UTF-8', EXTENSIONS_GALLERY: '{"serviceUrl":""}',
    XDG_CONFIG_HOME: profile, XDG_DATA_HOME: profile, XDG_CACHE_HOME: profile,
  };
  const remove = () => { fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }); };
  let base;
  try {
    base = [CODE_SERVER, '--config', path.join(profile, 'config.yaml'), '--user-data-dir', data, '--extensions-dir', installedExtensions(env)];
  } catch (error) {
    remove();
    throw error;
  }
  const port = await freePort();
  const log = path.join(profile, 'server.log');
  const output = fs.openSync(log, 'w');
  const child = spawn(process.execPath, [
    ...base, '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override',
    ...(trusting ? ['--disable-workspace-trust'] : []), '--ignore-last-opened', ...options.flatMap((each) => ['--vscode-option', each]), workspace,
  ], { env, stdio: ['ignore', output, output], detached: true });
  const url = `http://127.0.0.1:${port}`;
  const exited = new Promise((resolve) => { child.once('exit', resolve); });
  // The process group that was started here, and no other.
  const signal = (name) => { try { process.kill(-child.pid, name); } catch { /* it has ended */ } };
  const stop = async () => {
    signal('SIGTERM');
    let timer;
    await Promise.race([exited, new Promise((resolve) => { timer = setTimeout(resolve, 5000); })]);
    clearTimeout(timer);
    signal('SIGKILL');
    if (process.env.KEEP) console.log(`kept: ${profile}`);
    else remove();
  };
  for (let tries = 0; ; tries += 1) {
    const healthy = await fetch(`${url}/healthz`).then((answer) => answer.ok, () => false);
    if (healthy) return { url, host: `127.0.0.1:${port}`, profile, stop };
    if (child.exitCode !== null || tries > 600) {
      const said = fs.readFileSync(log, 'utf8');
      await stop();
      throw new Error(`code-server did not start:\n${shortened(said)}`);
    }
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}

/** How long a page waits for an element or a navigation, in milliseconds; CI machines may be busy. */
export const PATIENCE = 120_000;

export async function openBrowser({ profile }, viewport = { width: 1400, height: 850 }) {
  const browser = await chromium.launch({
    executablePath: CHROMIUM, headless: true,
    env: { ...process.env, HOME: profile, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(PATIENCE);
  // Nothing may need the network.
  const strangers = new Set();
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (/^https?:$/.test(protocol) && hostname !== '127.0.0.1' && !hostname.endsWith('.vscode-resource.vscode-cdn.net')) strangers.add(hostname);
  });
  return { browser, page, strangers };
}

/** The address that opens a workspace, with options of the workbench. */
export const address = (code, workspace, payload = []) =>
  `${code.url}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
export const remote = (code, file) => `vscode-remote://${code.host}${file}`;
