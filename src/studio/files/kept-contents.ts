import type { Readable } from 'node:stream';
import type { Log } from '../../kit/log.ts';
import type { Blobs } from './blobs.ts';
import { findUnnamed, isNamed } from './change-store.ts';
import { quotaExceeded } from './file-faults.ts';
import type { FilePlace } from './disk-notes.ts';
import type { FileSql } from './file-store.ts';
import { deleteUploads, expireUploads, findKept, insertUpload } from './upload-store.ts';

export interface KeptContentsOptions {
  readonly sql: FileSql;
  readonly blobs: Blobs;
  readonly log: Log;
}

const keptMs = 24 * 60 * 60 * 1_000;
const sweepEveryMs = 60 * 60 * 1_000;
/** What is younger may be about to be named. */
const strayAgeMs = 60 * 60 * 1_000;

/** Contents that were sent to workspaces before the changes that name them. */
export class KeptContents implements AsyncDisposable {
  readonly #options: KeptContentsOptions;
  readonly #sweeper: NodeJS.Timeout;
  #sweeping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: KeptContentsOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.sweep(), sweepEveryMs);
    this.#sweeper.unref();
  }

  /** On disk and noted before it resolves; `too_large` (`quota_exceeded`) beyond the workspace's room. */
  async keep(
    { workspaceId, quotaBytes }: FilePlace,
    content: Buffer | Readable,
    hash: string,
  ): Promise<{ readonly size: number }> {
    const { sql, blobs } = this.#options;
    const { size } = await blobs.hold(content, hash);
    try {
      if (await insertUpload(sql, { workspaceId, hash, size }, quotaBytes)) return { size };
    } finally {
      blobs.release(hash);
    }
    await this.drop(hash);
    throw quotaExceeded(quotaBytes);
  }

  /** With their sizes. */
  find(workspaceId: string, hashes: readonly string[]): Promise<Map<string, number>> {
    return findKept(this.#options.sql, workspaceId, hashes);
  }

  /** They are files by now. */
  async name(workspaceId: string, hashes: readonly string[]): Promise<void> {
    if (hashes.length > 0) await deleteUploads(this.#options.sql, workspaceId, hashes);
  }

  /** Removes content unless something names it. */
  async drop(hash: string): Promise<void> {
    const { sql, blobs } = this.#options;
    await blobs.remove(hash, () => isNamed(sql, hash));
  }

  /** Forgets uploads that became no file, and contents that a crash left without a name. */
  sweep(): void {
    const { log } = this.#options;
    this.#sweeping = this.#sweeping
      .then(() => this.#sweep())
      .catch((err: unknown) => {
        if (!this.#isClosed) log.warn({ err }, 'contents without a name could not be removed');
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { sql, blobs } = this.#options;
    const expired = await expireUploads(sql, new Date(Date.now() - keptMs));
    for (const hash of expired) await this.drop(hash);
    for await (const hashes of blobs.pages(strayAgeMs)) {
      if (this.#isClosed) return;
      for (const hash of await findUnnamed(sql, hashes)) await this.drop(hash);
    }
  }
}
