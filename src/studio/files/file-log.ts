import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import { filesTopic } from '../events.ts';
import type { FileChange } from './file.ts';
import {
  openLog,
  readState,
  storeChanges,
  type FileSql,
  type FileState,
  type NewChange,
} from './file-store.ts';

export interface FileLogOptions {
  readonly sql: FileSql;
  readonly bus: Bus;
  readonly log: Log;
}

export type ChangeListener = (change: FileChange) => void;

/** Stores changes, and tells of them on every replica. */
export class FileLog implements AsyncDisposable {
  readonly #options: FileLogOptions;
  readonly #topic: Topic<FileChange>;
  readonly #listeners = new Set<ChangeListener>();
  readonly #opened = new Set<string>();
  #subscription: Subscription | undefined;

  constructor(options: FileLogOptions) {
    this.#options = options;
    this.#topic = options.bus.topic<FileChange>(filesTopic);
  }

  async start(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(({ data }) => {
      for (const listener of this.#listeners) listener(data);
    });
  }

  /** Those who miss changes find them in the log: seqs have no gaps. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What some paths hold, and the end of the log. */
  async read(workspaceId: string, paths: readonly string[]): Promise<FileState> {
    await this.#open(workspaceId);
    return readState(this.#options.sql, workspaceId, paths);
  }

  /** All or none are stored; false when others have stored something since the state was read. */
  async store(
    workspaceId: string,
    { end }: Pick<FileState, 'end'>,
    { changes, usedBytes }: { readonly changes: readonly NewChange[]; readonly usedBytes: number },
  ): Promise<boolean> {
    const stored = { expectedSeq: end.lastSeq, usedBytes, changes };
    if (!(await storeChanges(this.#options.sql, workspaceId, stored))) return false;
    await Promise.all(changes.map((change) => this.#tell(toChange(workspaceId, change))));
    return true;
  }

  forget(workspaceId: string): void {
    this.#opened.delete(workspaceId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
  }

  async #open(workspaceId: string): Promise<void> {
    if (this.#opened.has(workspaceId)) return;
    await openLog(this.#options.sql, workspaceId);
    this.#opened.add(workspaceId);
  }

  async #tell(change: FileChange): Promise<void> {
    try {
      await this.#topic.publish(change);
    } catch (err) {
      this.#options.log.warn({ err }, 'a change of a file is not told; who follows finds it later');
    }
  }
}

function toChange(workspaceId: string, change: NewChange): FileChange {
  const { seq, deviceId, path, baseHash, hash, size, isExecutable, conflictOf, atMs } = change;
  const written = baseHash === undefined ? 'create' : 'update';
  return {
    workspaceId,
    seq,
    deviceId,
    path,
    operation: hash === undefined ? 'delete' : written,
    ...(baseHash === undefined ? {} : { baseHash }),
    ...(hash === undefined ? {} : { hash }),
    size,
    isExecutable,
    atMs,
    ...(conflictOf === undefined ? {} : { conflictOf }),
  };
}
