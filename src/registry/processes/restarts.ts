import { Fault } from '../../kit/errors.ts';

/** How the last process of a connection ended. */
export interface LastEnd {
  readonly lastEnd: string;
  /** The end of its standard error, masked. */
  readonly stderr?: string;
  /** The end of what of its standard output was no MCP, masked. */
  readonly stdout?: string;
}

interface Record extends LastEnd {
  /** The command that it was about; another one starts anew. */
  readonly command: string;
  /** Crashes in a row. */
  readonly crashes: number;
  readonly notBeforeMs: number;
}

const firstPauseMs = 1000;
const longestPauseMs = 60_000;
const settledMs = 60_000;
const recordsMax = 10_000;

/**
 * Keeps a server that crashes from being started over and over. The first crash may be followed at
 * once by a new start; from the second in a row there is a pause of 1 s that doubles up to 60 s. A life
 * of 60 s begins a new row.
 */
export class Restarts {
  readonly #records = new Map<string, Record>();

  /** Throws Fault `unavailable` (`restarting_too_often`, with its `retryAfter`) during a pause. */
  require(id: string, command: string, nowMs: number): void {
    const record = this.#records.get(id);
    if (!record || record.command !== command || nowMs >= record.notBeforeMs) return;
    throw new Fault('unavailable', "the server's process ends again and again", {
      reason: 'restarting_too_often',
      retryAfter: Math.ceil((record.notBeforeMs - nowMs) / 1000),
      detail: { crashes: record.crashes, lastEnd: record.lastEnd },
    });
  }

  /** It ended without having been asked to. */
  noteCrash(id: string, crash: Life): void {
    const before = this.#records.get(id);
    const isSame = before?.command === crash.command && crash.livedMs < settledMs;
    const crashes = (isSame ? before.crashes : 0) + 1;
    const pauseMs = crashes < 2 ? 0 : Math.min(firstPauseMs * 2 ** (crashes - 2), longestPauseMs);
    this.#put(id, { ...remembered(crash), crashes, notBeforeMs: crash.nowMs + pauseMs });
  }

  /** It was ended by us: how is remembered, the row of crashes is over if it lived long enough. */
  noteClosed(id: string, closed: Life): void {
    const before = this.#records.get(id);
    const goesOn = before?.command === closed.command && closed.livedMs < settledMs;
    const crashes = goesOn ? before.crashes : 0;
    this.#put(id, { ...remembered(closed), crashes, notBeforeMs: 0 });
  }

  lastEnd(id: string): LastEnd | undefined {
    const record = this.#records.get(id);
    if (!record) return undefined;
    const { lastEnd, stderr, stdout } = record;
    return {
      lastEnd,
      ...(stderr !== undefined && { stderr }),
      ...(stdout !== undefined && { stdout }),
    };
  }

  forget(id: string): void {
    this.#records.delete(id);
  }

  #put(id: string, record: Record): void {
    this.#records.delete(id);
    this.#records.set(id, record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > recordsMax && oldest !== undefined) this.#records.delete(oldest);
  }
}

/** How a process's life was. */
export interface Life extends LastEnd {
  readonly command: string;
  readonly livedMs: number;
  readonly nowMs: number;
}

const lengthKept = 1000;

function remembered({ command, lastEnd, stderr, stdout }: Life) {
  return {
    command,
    lastEnd,
    ...(stderr && { stderr: stderr.slice(-lengthKept) }),
    ...(stdout && { stdout: stdout.slice(-lengthKept) }),
  };
}
