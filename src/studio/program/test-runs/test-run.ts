import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../../kit/environment.ts';
import { Fault } from '../../../kit/errors.ts';
import { readProcess } from '../../../kit/processes/process-table.ts';
import { endAll, ProcessTree } from '../../../kit/processes/process-tree.ts';
import type { TestReport } from '../../tasks/task.ts';
import { KeptText } from './kept-text.ts';
import { readTestOutput } from './test-output.ts';

export interface TestRunOptions {
  /** A program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Absolute. */
  readonly folder: string;
  readonly timeLimitMs: number;
  /** Calls the run off: everything of it is ended before the rejection. */
  readonly signal: AbortSignal;
  /** Of this process; the command sees little of it. */
  readonly environment: Environment;
}

/** What is read for the report; of more, the end. */
const parsedBytesMax = 8 * 1024 * 1024;
const shownBytesMax = 16 * 1024;
const graceMs = 1_000;
/** Of the time limit: what is ended in time is to be told in time. */
const graceShare = 0.05;

/**
 * Runs a test command in a process group of its own, and ends all of it with the command, at the time
 * limit, and when it is called off. Its exit code is in the report as it is; null when it was killed, and then
 * the output ends with why.
 */
export async function runTests(options: TestRunOptions): Promise<TestReport> {
  const { timeLimitMs, signal } = options;
  signal.throwIfAborted();
  const startedAt = performance.now();
  const { child, tree } = await start(options);
  const [printed, shown] = [new KeptText(parsedBytesMax), new KeptText(shownBytesMax)];
  child.stdout?.on('data', (chunk: Buffer) => printed.add(chunk));
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => shown.add(chunk));
  }
  const limitMs = Math.ceil(Math.max(1, Math.min(timeLimitMs, 2 ** 31 - 1)));
  const clock = AbortSignal.timeout(limitMs);
  const { exitCode, killedBy } = await untilEnded(child, AbortSignal.any([clock, signal]));
  await endAll(await tree, Math.min(graceMs, limitMs * graceShare));
  await closeOutput(child);
  signal.throwIfAborted();
  if (exitCode === null) shown.add(Buffer.from(`\n${whyStopped(killedBy, limitMs)}\n`));
  return {
    ...readTestOutput(printed.text()),
    exitCode,
    durationMs: Math.round(performance.now() - startedAt),
    output: shown.text(),
  };
}

async function start({ command, folder, environment }: TestRunOptions) {
  const [program = '', ...parameters] = command;
  const [name, value] = ['ENNEAD_TEST_RUN', randomUUID()];
  const child = spawn(program, parameters, {
    cwd: folder,
    env: { ...harmless(environment), CI: 'true', [name]: value },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    await once(child, 'spawn');
  } catch (cause) {
    const { code } = cause as { readonly code?: string };
    throw new Fault(
      'invalid',
      `The test command “${program}” could not be started in the workspace’s folder: ${code ?? 'it failed'}.`,
      { reason: 'test_command_failed', cause },
    );
  }
  const pid = child.pid ?? 0;
  // Not waited for: what it prints, and its end, are listened to from now on.
  const tree = readProcess(pid).then(
    (found) => new ProcessTree({ pid, startedAt: found?.startedAt ?? '' }, `${name}=${value}`),
  );
  return { child, tree };
}

interface End {
  /** Null when a signal ended it, or it is to be ended. */
  readonly exitCode: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

async function untilEnded(child: ChildProcess, stop: AbortSignal): Promise<End> {
  const ended = new Promise<End>((resolve) => {
    child.once('exit', (exitCode, killedBy) => resolve({ exitCode, killedBy }));
  });
  const stopped = new Promise<End>((resolve) => {
    const give = () => resolve({ exitCode: null, killedBy: null });
    if (stop.aborted) give();
    stop.addEventListener('abort', give, { once: true });
  });
  return Promise.race([ended, stopped]);
}

/** For the end of the output, where its reader looks. */
function whyStopped(killedBy: NodeJS.Signals | null, limitMs: number): string {
  if (killedBy === null) return `Ended at its time limit of ${(limitMs / 1_000).toFixed(1)} s.`;
  const guess = killedBy === 'SIGKILL' ? ', as the system does to who takes too much memory' : '';
  return `Ended by ${killedBy}${guess}.`;
}

/** What was printed last is still on its way when the process ends. */
async function closeOutput(child: ChildProcess): Promise<void> {
  const streams = [child.stdout, child.stderr];
  const ended = streams.map(async (stream) => {
    if (stream && !stream.readableEnded && !stream.destroyed) await once(stream, 'close');
  });
  await Promise.race([Promise.all(ended), sleep(1_000)]).catch(() => {});
  for (const stream of streams) stream?.destroy();
}

const harmlessNames =
  /^(HOME|LANG|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER|LC_.*|SystemRoot|TEMP|TMP)$/;

/** Without whatever this process was told for itself. */
function harmless(environment: Environment): Record<string, string> {
  const entries = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && harmlessNames.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}
