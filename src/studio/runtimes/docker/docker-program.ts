import type { Container, ContainerStats } from 'dockerode';
import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentUse, FailureReason } from '../../agents/agent.ts';
import { runtimeFault } from '../faults.ts';
import { LineCutter } from '../line-cutter.ts';
import type { ProgramIdentity, RunningProgram, RuntimeEnd } from '../runtime.ts';
import { StampedLines } from '../stamped-lines.ts';
import { tellInside } from '../told-identity.ts';
import { folderInside } from './container-spec.ts';
import { isGone, isStopped } from './docker-errors.ts';

type Listener = Parameters<RunningProgram['onLine']>[0];

export interface DockerProgramOptions {
  readonly container: Container;
  /** Attached standard input of one that can still be told who it is. */
  readonly input?: NodeJS.ReadWriteStream | undefined;
  readonly hasFolder: boolean;
  /** A name that stands for this machine inside. */
  readonly host: string;
  /** Lines of before are not told. */
  readonly linesAfterMs: number;
  /** Whether the daemon says truly that memory ran out; else a kill that nobody asked for is one. */
  readonly tellsOutOfMemory: boolean;
}

const retryMs = 500;
const sampleMs = 200;
const lastLinesMs = 2_000;

/** An agent in a container. */
export class DockerProgram implements RunningProgram {
  readonly reference: string;
  readonly ended: Promise<RuntimeEnd>;
  readonly #options: DockerProgramOptions;
  readonly #container: Container;
  readonly #released = new AbortController();
  readonly #listeners: Listener[] = [];
  readonly #lines: StampedLines;
  #reading: Promise<void> | undefined;
  #lastStats: ContainerStats | undefined;
  #isExited = false;
  #isStopping = false;
  #isTold = false;

  constructor(options: DockerProgramOptions) {
    this.#options = options;
    this.#container = options.container;
    this.#lines = new StampedLines(options.linesAfterMs);
    this.reference = options.container.id;
    this.ended = this.#waitForEnd();
    options.input?.on('error', () => undefined);
  }

  async tell(identity: ProgramIdentity): Promise<void> {
    const { hasFolder, host, input } = this.#options;
    if (!input || this.#isTold) {
      throw runtimeFault('start_failed', 'the program cannot be told who it is a second time');
    }
    this.#isTold = true;
    const folder = hasFolder ? folderInside : undefined;
    input.end(`${JSON.stringify(tellInside(identity, { host, folder }))}\n`);
    try {
      await finished(input, { readable: false });
    } catch (error) {
      throw runtimeFault('exited', 'the program ended before it was told who it is', error);
    }
  }

  async use(): Promise<AgentUse | undefined> {
    try {
      const before = this.#lastStats ?? (await this.#readStats());
      if (!this.#lastStats) await sleep(sampleMs);
      const now = await this.#readStats();
      this.#lastStats = now;
      return useBetween(before, now);
    } catch (error) {
      if (this.#isExited || isGone(error) || isStopped(error)) return undefined;
      throw runtimeFault('runtime_unavailable', 'the Docker daemon tells no figures', error);
    }
  }

  onLine(listener: Listener): void {
    this.#listeners.push(listener);
    this.#reading ??= this.#readLines();
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    if (!this.#isExited) {
      await this.#container.kill({ signal: 'SIGTERM' }).catch(ignoreEnded);
      const stopped = new AbortController();
      const grace = sleep(graceMs, 'over', { signal: stopped.signal }).catch(() => 'over');
      const first = await Promise.race([this.ended, grace]);
      stopped.abort();
      if (first === 'over') await this.#container.kill({ signal: 'SIGKILL' }).catch(ignoreEnded);
    }
    await this.ended;
  }

  /** Lets go of the container, which runs on. */
  release(): void {
    this.#released.abort();
  }

  async #waitForEnd(): Promise<RuntimeEnd> {
    const abortSignal = this.#released.signal;
    for (;;) {
      try {
        const { StatusCode: status }: { StatusCode: number } = await this.#container.wait({
          condition: 'not-running',
          abortSignal,
        });
        return await this.#finish(endOf(status));
      } catch (error) {
        // Who lets go is told no end.
        if (abortSignal.aborted) return new Promise(() => undefined);
        if (isGone(error)) return this.#finish({ exitCode: null, signal: null, reason: 'lost' });
      }
      // The daemon was started anew, or does not answer: the container may run on.
      await sleep(retryMs);
    }
  }

  async #finish(end: RuntimeEnd): Promise<RuntimeEnd> {
    const reason = end.reason ?? (await this.#explain(end));
    this.#isExited = true;
    // A log that does not end must not hold up what waits for the end.
    await Promise.race([this.#readRest(), sleep(lastLinesMs, undefined, { ref: false })]);
    this.#released.abort();
    await this.#container.remove({ force: true, v: true }).catch(() => undefined);
    return { ...end, ...(reason === undefined ? {} : { reason }) };
  }

  async #explain({ signal }: RuntimeEnd): Promise<FailureReason | undefined> {
    try {
      const { State: state } = await this.#container.inspect();
      if (signal !== 'SIGKILL' || this.#isStopping) return undefined;
      return state.OOMKilled || !this.#options.tellsOutOfMemory ? 'out_of_memory' : undefined;
    } catch (error) {
      return isGone(error) ? 'lost' : undefined;
    }
  }

  async #readLines(): Promise<void> {
    while (!this.#released.signal.aborted && !this.#isExited) {
      await this.#readLog(true).catch(() => undefined);
      // The log ends with the container; else the daemon has, and may come back.
      if (!(await this.#isRunning())) return;
      await sleep(retryMs);
    }
  }

  /** What a log that is followed leaves out at its end. */
  async #readRest(): Promise<void> {
    if (!this.#reading) return;
    await this.#reading;
    await this.#readLog(false).catch(() => undefined);
  }

  async #isRunning(): Promise<boolean> {
    const state = await this.#container.inspect().catch(() => undefined);
    return state?.State.Running ?? !this.#isExited;
  }

  async #readLog(isFollowed: boolean): Promise<void> {
    const options = {
      stdout: true,
      stderr: true,
      timestamps: true,
      since: this.#lines.begin(),
      abortSignal: this.#released.signal,
    };
    const log = isFollowed
      ? await this.#container.logs({ ...options, follow: true })
      : Readable.from([await this.#container.logs({ ...options, follow: false })]);
    const sinks = (['stdout', 'stderr'] as const).map((stream) => this.#sink(stream));
    // The types of the package know no modem.
    const modem = this.#container.modem as {
      demuxStream(from: NodeJS.ReadableStream, ...to: unknown[]): void;
    };
    modem.demuxStream(log, ...sinks);
    await finished(log).catch(() => undefined);
    for (const sink of sinks) sink.end();
    await Promise.all(sinks.map((sink) => finished(sink)));
  }

  #sink(stream: 'stdout' | 'stderr'): PassThrough {
    const cutter = new LineCutter();
    const sink = new PassThrough();
    sink.on('data', (bytes: Buffer) => this.#tellLines(stream, cutter.push(bytes)));
    sink.on('end', () => this.#tellLines(stream, cutter.end()));
    return sink;
  }

  #tellLines(stream: 'stdout' | 'stderr', lines: readonly string[]): void {
    for (const line of lines) {
      const text = this.#lines.take(line);
      if (text === undefined) continue;
      for (const listener of this.#listeners) listener({ stream, text });
    }
  }

  async #readStats(): Promise<ContainerStats> {
    return this.#container.stats({ stream: false, 'one-shot': true });
  }
}

const signals: Readonly<Record<number, string>> = {
  130: 'SIGINT',
  134: 'SIGABRT',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  143: 'SIGTERM',
};

/** Docker tells a signal as 128 and its number. */
function endOf(status: number): RuntimeEnd {
  const signal = signals[status];
  return signal === undefined ? { exitCode: status, signal: null } : { exitCode: null, signal };
}

function useBetween(before: ContainerStats, now: ContainerStats): AgentUse | undefined {
  const elapsedMs = Date.parse(now.read) - Date.parse(before.read);
  const usedNanos = now.cpu_stats.cpu_usage.total_usage - before.cpu_stats.cpu_usage.total_usage;
  // Of a container that has ended there are no figures, whatever the types say.
  const { stats, usage }: Partial<ContainerStats['memory_stats']> = now.memory_stats;
  if (!usage) return undefined;
  const reclaimable = stats?.inactive_file ?? stats?.total_inactive_file ?? 0;
  const cpu = elapsedMs > 0 ? Math.max(0, usedNanos / 1e6 / elapsedMs) : 0;
  return { cpu, memory: Math.max(0, usage - reclaimable) };
}

function ignoreEnded(error: unknown): void {
  if (!isGone(error) && !isStopped(error)) {
    throw runtimeFault('runtime_unavailable', 'the Docker daemon could not stop the agent', error);
  }
}
