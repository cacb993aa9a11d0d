// SPDX-License-Identifier: Apache-2.0

/** Test whether a Python interpreter can run the server. Does not import `vscode`, for the tests. */

import { execFile, type ExecFileException } from 'node:child_process';

/** The packages that the environment must have; the others are bundled. */
const COMPILED = ['onnx', 'numpy', 'google.protobuf', 'ml_dtypes', 'orjson'] as const;
const MODULES = ['onnxtext', 'onnxtext.lsp', 'pygls', ...COMPILED] as const;
const SECONDS = 20;
const OLDEST = [3, 10] as const;

const SCRIPT = `
import importlib.util, json, sys
def there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:
        return False
names = sys.argv[1:]
print(json.dumps({"version": list(sys.version_info[:3]), "executable": sys.executable, "modules": [n for n in names if there(n)]}))
`;

export interface Probe {
  /** The command as given. */
  command: string;
  executable: string;
  version: number[];
  modules: string[];
}

/** Why an interpreter cannot be used. */
export interface Misfit {
  command: string;
  reason: string;
}

export type Mode = 'environment' | 'bundled';

/** How to start the server. */
export interface Plan {
  mode: Mode;
  executable: string;
  version: number[];
}

/**
 * Ask an interpreter for its packages.
 *
 * @param directory the working directory; Python imports from it first, so it must be trusted.
 */
export async function probe(command: string, directory: string): Promise<Probe | Misfit> {
  return await new Promise((resolve) => {
    execFile(command, ['-c', SCRIPT, ...MODULES], { cwd: directory, timeout: SECONDS * 1000, windowsHide: true }, (error, output, errors) => {
      if (error) {
        resolve({ command, reason: explained(error, errors) });
        return;
      }
      try {
        resolve({ command, ...(JSON.parse(output) as Omit<Probe, 'command'>) });
      } catch {
        resolve({ command, reason: 'it is no Python interpreter' });
      }
    });
  });
}

function explained(error: ExecFileException, errors: string): string {
  if (error.code === 'ENOENT') return 'it does not exist';
  if (error.code === 'EACCES') return 'it may not be executed';
  if (error.killed === true) return `it did not answer within ${SECONDS} seconds`;
  return errors.trim().split('\n').at(-1) || error.message;
}

/** Decide how to use an interpreter. */
export function plan(found: Probe | Misfit, source: 'auto' | Mode): Plan | Misfit {
  if ('reason' in found) return found;
  const { command, executable, version, modules } = found;
  const [major = 0, minor = 0] = version;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return { command, reason: `it is Python ${version.join('.')}; at least ${OLDEST.join('.')} is needed` };
  }
  const lacks = (names: readonly string[]) => names.filter((name) => !modules.includes(name));
  const missing = lacks(MODULES);
  if (source !== 'bundled' && missing.length === 0) return { mode: 'environment', executable, version };
  if (source === 'environment') return { command, reason: `it lacks ${missing.join(', ')}: in a clone, pip install -e '.[lsp]'` };
  const compiled = lacks(COMPILED);
  if (compiled.length === 0) return { mode: 'bundled', executable, version };
  return { command, reason: `it lacks ${compiled.join(', ')}: pip install ${compiled.map(packageOf).join(' ')}` };
}

function packageOf(module: string): string {
  return module === 'google.protobuf' ? 'protobuf' : module;
}

/**
 * Return the first interpreter that works. One with onnxtext is preferred to one that can only run
 * the bundled copy, unless that one is in the settings.
 */
export async function choose(
  candidates: string[], source: 'auto' | Mode, directory: string, preferred: number,
): Promise<{ plan?: Plan; misfits: Misfit[] }> {
  const misfits: Misfit[] = [];
  let second: Plan | undefined;
  for (const [at, command] of candidates.entries()) {
    const made = plan(await probe(command, directory), source);
    if ('reason' in made) misfits.push(made);
    else if (made.mode === 'environment' || source === 'bundled' || at < preferred) return { plan: made, misfits };
    else second ??= made;
  }
  return second ? { plan: second, misfits } : { misfits };
}
