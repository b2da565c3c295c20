import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { serviceNames } from '../src/service-names.ts';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const readyLine = /^ready in (\d+) ms$/m;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running `ennead` in a process of its own. */
export interface Ennead {
  readonly process: ChildProcess;
  /** Everything printed so far, both streams. */
  output(): string;
  /** Resolves when it has printed `ready in`; rejects with its output if it ends before. */
  readonly ready: Promise<void>;
  readonly exit: Promise<Exit>;
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

/** Starts the built program with these words and variables, and none of the tester's own settings. */
export function startEnnead(words: readonly string[], variables: Record<string, string>): Ennead {
  if (!existsSync(program)) throw new Error('there is no build: run `npm test`, which makes one');
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  // A test that was given up leaves nothing running.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const exit = new Promise<Exit>((resolve) => {
    child.on('close', (code, signal) => {
      process.off('exit', end);
      resolve({ code, signal });
    });
  });
  const ready = new Promise<void>((resolve, reject) => {
    const read = (bytes: Buffer) => {
      output += bytes.toString();
      if (readyLine.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exit.then(({ code }) => reject(new Error(`ennead ended with ${code}:\n${output}`)));
  });
  ready.catch(() => {});
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exit;
  };
  return { process: child, output: () => output, ready, exit, stop };
}

/** Runs a command to its end. */
export async function runEnnead(words: readonly string[], variables: Record<string, string> = {}) {
  const ennead = startEnnead(words, variables);
  const { code } = await ennead.exit;
  return { code, output: ennead.output() };
}

export interface AskOptions {
  readonly variables: Record<string, string>;
  /** What stands on standard input. */
  readonly input?: string;
}

/** Runs a command to its end; its answer and its remarks come apart, as a script reads them. */
export async function askEnnead(words: readonly string[], { variables, input = '' }: AskOptions) {
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...variables },
    stdio: 'pipe',
  });
  const texts = Promise.all([text(child.stdout), text(child.stderr)]);
  // Who does not read its input may be gone before it is written.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await texts;
  return { code, stdout, stderr };
}

/** A folder of its own that is removed with `remove`. */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'ennead-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Where a service of a suite with this port base answers. */
export function serviceUrl(base: number, name: string): string {
  return `http://127.0.0.1:${base + 1 + serviceNames.findIndex((one) => one === name)}`;
}
