import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Log } from '../../kit/log.ts';
import type { LogLine } from './agent.ts';
import type { AgentSql } from './agent-store.ts';
import { insertLines, pruneLines, readLastSeq, readLines, type StoredLine } from './log-store.ts';

export interface AgentLogsOptions {
  readonly sql: AgentSql;
  readonly log: Log;
}

/** Kept of each agent. */
const linesMax = 10_000;
const bytesMax = 1024 * 1024;
/** Lines of one agent that may lie in memory; what it prints faster is dropped and counted. */
const waitingMax = 2_000;
const lineBytesMax = 8 * 1024;
/** So much may come before the oldest is forgotten: the bounds leave room for it. */
const pruneLinesMax = 1_000;
const pruneBytesMax = 128 * 1024;
const pollMs = 1_000;
const tailMax = 20;

interface Writing {
  lastSeq: number;
  waiting: number;
  dropped: number;
  linesSincePrune: number;
  bytesSincePrune: number;
  /** The last that the program printed, for the sentence that tells why it ended. */
  readonly tail: string[];
}

/**
 * What agents print, the newest lines of each, in the database. Printing faster than that can be
 * written loses lines, and a line of the studio's own says how many.
 */
export class AgentLogs implements AsyncDisposable {
  readonly #options: AgentLogsOptions;
  readonly #batch: Batch<StoredLine>;
  readonly #writing = new Map<string, Writing>();
  readonly #waiters = new Map<string, Set<() => void>>();

  constructor(options: AgentLogsOptions) {
    this.#options = options;
    this.#batch = createBatch<StoredLine>({
      flush: (lines) => this.#flush(lines),
      maxItems: 500,
      maxDelayMs: 100,
      maxPending: 20_000,
    });
  }

  /** Before the first line of an agent that printed earlier: the numbers go on. */
  async open(agentId: string): Promise<void> {
    if (this.#writing.has(agentId)) return;
    this.begin(agentId, await readLastSeq(this.#options.sql, agentId));
  }

  /** The same for one whose last number is known. */
  begin(agentId: string, lastSeq: number): void {
    this.#writing.set(agentId, {
      lastSeq,
      waiting: 0,
      dropped: 0,
      linesSincePrune: 0,
      bytesSincePrune: 0,
      tail: [],
    });
  }

  /** Takes a line; it is readable a moment later. Never waits and never throws. */
  add(agentId: string, stream: LogLine['stream'], text: string): void {
    const writing = this.#writing.get(agentId);
    if (!writing) return;
    const line = presentable(text);
    if (stream !== 'studio') remember(writing.tail, line);
    if (stream !== 'studio' && writing.waiting >= waitingMax) {
      writing.dropped += 1;
      return;
    }
    if (writing.dropped > 0) {
      const { dropped } = writing;
      writing.dropped = 0;
      this.#write(agentId, writing, { stream: 'studio', text: `${dropped} lines were dropped` });
    }
    this.#write(agentId, writing, { stream, text: line });
  }

  /** Before another program of the agent starts: what the one before it printed is not its own. */
  forgetTail(agentId: string): void {
    const writing = this.#writing.get(agentId);
    if (writing) writing.tail.length = 0;
  }

  /** The last lines that the program printed, oldest first. */
  tail(agentId: string): readonly string[] {
    return this.#writing.get(agentId)?.tail ?? [];
  }

  read(
    agentId: string,
    page: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<LogLine[]> {
    return readLines(this.#options.sql, agentId, page);
  }

  /**
   * Lines behind a place as they come, from whichever replica; ends when `isOver` says so and all is
   * told, or with the signal.
   */
  async *follow(
    agentId: string,
    { after, isOver, signal }: FollowOptions,
  ): AsyncGenerator<LogLine, void> {
    let last = after;
    while (!signal.aborted) {
      const wasOver = await isOver();
      const lines = await this.read(agentId, { after: last, limit: 500 });
      for (const line of lines) {
        yield line;
        last = line.seq;
      }
      if (lines.length > 0) continue;
      if (wasOver) return;
      await this.#untilMore(agentId, signal);
    }
  }

  /** Resolves when what was added can be read. */
  flush(): Promise<void> {
    return this.#batch.flush();
  }

  /** No more lines come. */
  async close(agentId: string): Promise<void> {
    await this.#batch.flush();
    this.#writing.delete(agentId);
    this.#wake(agentId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#batch.close();
    for (const agentId of this.#waiters.keys()) this.#wake(agentId);
  }

  #write(agentId: string, writing: Writing, line: Pick<LogLine, 'stream' | 'text'>): void {
    writing.lastSeq += 1;
    writing.waiting += 1;
    const stored = { agentId, seq: writing.lastSeq, atMs: Date.now(), ...line };
    this.#batch
      .add(stored)
      .catch((err: unknown) => {
        writing.dropped += 1;
        this.#options.log.debug({ err, agentId }, 'a line of an agent was dropped');
      })
      .finally(() => {
        writing.waiting -= 1;
      });
  }

  async #flush(lines: readonly StoredLine[]): Promise<void> {
    const { sql } = this.#options;
    await insertLines(sql, lines);
    const full = this.#countFull(lines);
    const bounds = { linesMax: linesMax - pruneLinesMax, bytesMax: bytesMax - 2 * pruneBytesMax };
    if (full.length > 0) await pruneLines(sql, full, bounds);
    for (const agentId of new Set(lines.map((line) => line.agentId))) this.#wake(agentId);
  }

  /** The agents of which enough has come to look for lines that are too old. */
  #countFull(lines: readonly StoredLine[]): string[] {
    const full = new Set<string>();
    for (const { agentId, text } of lines) {
      const writing = this.#writing.get(agentId);
      if (!writing) continue;
      writing.linesSincePrune += 1;
      writing.bytesSincePrune += Buffer.byteLength(text);
      const { linesSincePrune, bytesSincePrune } = writing;
      if (linesSincePrune >= pruneLinesMax / 2 || bytesSincePrune >= pruneBytesMax) {
        full.add(agentId);
        writing.linesSincePrune = 0;
        writing.bytesSincePrune = 0;
      }
    }
    return [...full];
  }

  #wake(agentId: string): void {
    const waiters = this.#waiters.get(agentId);
    this.#waiters.delete(agentId);
    for (const wake of waiters ?? []) wake();
  }

  /** Lines of other replicas are looked for once a second. */
  #untilMore(agentId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(agentId) ?? new Set();
      this.#waiters.set(agentId, waiters);
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        waiters.delete(end);
        resolve();
      };
      const timer = setTimeout(end, pollMs);
      waiters.add(end);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }
}

export interface FollowOptions {
  readonly after: number;
  /** Whether nothing more will come. */
  readonly isOver: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Text that the database takes, without API keys and tokens, of at most 8 KiB. */
function presentable(text: string): string {
  const bytes = Buffer.from(
    text
      .replaceAll('\0', '')
      .replaceAll(/enn_[0-9a-f]+_[0-9a-f]{8,}(_[0-9a-f]*)?/g, 'enn_***')
      .replaceAll(/\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g, '***'),
  );
  if (bytes.length <= lineBytesMax) return bytes.toString();
  const kept = bytes.subarray(0, lineBytesMax - 8).toString();
  return `${kept.replace(/\uFFFD+$/, '')} …`;
}

function remember(tail: string[], line: string): void {
  tail.push(line.slice(0, 500));
  if (tail.length > tailMax) tail.shift();
}
