import type { Log } from '../../kit/log.ts';
import type { ConnectionState } from './connection-row.ts';
import { noteIdle, noteRequests, type ConnectionSql } from './connection-store.ts';
import type { ConnectionDirectory } from './directory.ts';

export interface RequestLogOptions {
  readonly sql: ConnectionSql;
  readonly directory: ConnectionDirectory;
  /** A connection without a request for so long is idle. */
  readonly idleAfterMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of what the table has taken. */
  readonly onChanged: (states: readonly ConnectionState[], reason: string) => void;
  readonly log: Log;
}

/** How long a request through an active connection may wait to be written. */
const writeMs = 5_000;

/** When the last request went through each connection; the table has it a few seconds later. */
export class RequestLog implements AsyncDisposable {
  readonly #options: RequestLogOptions;
  readonly #unwritten = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: RequestLogOptions) {
    this.#options = options;
  }

  /** The write of a request that wakes an idle connection, which never rejects; others wait a little. */
  note(id: string): Promise<void> | undefined {
    const { directory, now } = this.#options;
    this.#unwritten.set(id, now());
    // What else is noted while one is written comes along with the next.
    if (directory.find(id)?.status === 'idle') return this.flush();
    this.#timer ??= setTimeout(() => void this.flush(), writeMs).unref();
    return undefined;
  }

  /** Milliseconds since the epoch, where a request is known that the table does not know yet. */
  lastOf(id: string): number | undefined {
    return this.#unwritten.get(id);
  }

  /** Writes what was noted so far. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Makes those idle that had no request for long. */
  async sweep(): Promise<void> {
    const { sql, directory, idleAfterMs, now, onChanged } = this.#options;
    const atMs = now();
    const beforeMs = atMs - idleAfterMs;
    const ids: string[] = [];
    for (const { id, status, lastActiveAtMs } of directory.all()) {
      if (status !== 'active' || lastActiveAtMs >= beforeMs) continue;
      if ((this.#unwritten.get(id) ?? 0) < beforeMs) ids.push(id);
    }
    if (ids.length === 0) return;
    onChanged(await noteIdle(sql, ids, { beforeMs, atMs }), 'no_request');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
  }

  async #write(): Promise<void> {
    const { sql, onChanged, log } = this.#options;
    const requests = [...this.#unwritten].map(([id, atMs]) => ({ id, atMs }));
    if (requests.length === 0) return;
    try {
      onChanged(await noteRequests(sql, requests), 'request');
      for (const { id, atMs } of requests) {
        if (this.#unwritten.get(id) === atMs) this.#unwritten.delete(id);
      }
    } catch (err) {
      // Kept, and written with the next request or sweep.
      log.warn({ err }, 'requests through connections could not be noted');
    }
  }
}
