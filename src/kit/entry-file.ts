import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type ResourceLimits } from 'node:worker_threads';

/*
 * Some files run in a thread or process of their own. Compiled they are plain JavaScript; in
 * development and in tests they are TypeScript, which Node 20 cannot load by itself.
 */
const extension = extname(import.meta.url);
const isSource = extension === '.ts';
const require = createRequire(import.meta.url);

/** A file beside the module that starts it. */
export interface EntryFile {
  /** The module's `import.meta.url`. */
  readonly beside: string;
  /** Without its extension. */
  readonly name: string;
}

/** Starts a file in a thread, which dies alone when its heap outgrows the limits; the caller owns it. */
export function startThread(
  file: EntryFile,
  settings: object,
  resourceLimits: ResourceLimits = {},
): Worker {
  const { name } = file;
  const url = entryUrl(file);
  const options = { name, workerData: settings, resourceLimits };
  if (!isSource) return new Worker(url, options);
  // In a thread tsx does not install itself through --import, so its hooks are registered by hand.
  const hooks = pathToFileURL(require.resolve('tsx/esm'));
  const code = `
    require('node:module').register(${JSON.stringify(hooks)}, { data: {} });
    import(${JSON.stringify(url)});
  `;
  return new Worker(code, { ...options, eval: true, execArgv: [] });
}

/** The program and arguments that run a file as a process, with options for Node.js before it. */
export function entryCommand(
  file: EntryFile,
  options: readonly string[] = [],
): readonly [program: string, ...parameters: string[]] {
  const loader = isSource ? ['--import', pathToFileURL(require.resolve('tsx')).href] : [];
  return [process.execPath, ...options, ...loader, fileURLToPath(entryUrl(file))];
}

/** Starts a file as a process whose standard error is a pipe. */
export function startProcess(file: EntryFile, parameters: readonly string[]): ChildProcess {
  const [program, ...before] = entryCommand(file);
  return spawn(program, [...before, ...parameters], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/**
 * Starts a file as a process that talks by messages, sees no environment variable and shares no
 * output. It dies alone when its heap outgrows the bound, also where a thread would take the whole
 * process with it: inside one large allocation. Its file ends it on `disconnect`.
 */
export function startIsolated(file: EntryFile, heapMegabytes: number): ChildProcess {
  const [program, ...parameters] = entryCommand(file, [`--max-old-space-size=${heapMegabytes}`]);
  return spawn(program, parameters, {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    env: {},
  });
}

function entryUrl({ beside, name }: EntryFile): URL {
  return new URL(`./${name}${extension}`, beside);
}
