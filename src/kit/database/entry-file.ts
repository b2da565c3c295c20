import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

/*
 * Some files of this folder run in a thread or process of their own. Compiled they are plain
 * JavaScript; in development and in tests they are TypeScript, which Node 20 cannot load by itself.
 */
const extension = extname(import.meta.url);
const isSource = extension === '.ts';
const require = createRequire(import.meta.url);

/** Starts the file `name` of this folder in a thread; the caller owns it. */
export function startThread(name: string, settings: object): Worker {
  const url = entryUrl(name);
  if (!isSource) return new Worker(url, { name, workerData: settings });
  // In a thread tsx does not install itself through --import, so its hooks are registered by hand.
  const hooks = pathToFileURL(require.resolve('tsx/esm'));
  const code = `
    require('node:module').register(${JSON.stringify(hooks)}, { data: {} });
    import(${JSON.stringify(url)});
  `;
  return new Worker(code, { eval: true, execArgv: [], name, workerData: settings });
}

/** Starts the file `name` of this folder as a process whose standard error is a pipe. */
export function startProcess(name: string, parameters: readonly string[]): ChildProcess {
  const loader = isSource ? ['--import', pathToFileURL(require.resolve('tsx')).href] : [];
  return spawn(process.execPath, [...loader, fileURLToPath(entryUrl(name)), ...parameters], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function entryUrl(name: string): URL {
  return new URL(`./${name}${extension}`, import.meta.url);
}
