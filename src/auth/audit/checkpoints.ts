import type { Log } from '../../kit/log.ts';
import type { Sql } from '../tables.ts';
import type { ChainHead } from './chain.ts';
import { findLastCheckpoint, insertCheckpoint } from './chain-store.ts';
import type { CheckpointKey, SignedHead } from './checkpoint-key.ts';
import { verifyAudit } from './verification.ts';

export interface CheckpointsOptions {
  readonly sql: Sql;
  readonly checkpointKey: CheckpointKey;
  readonly log: Log;
}

const eventsBetween = 1000;

/**
 * Signs the head of the audit log now and then, never one that does not follow from the last that was
 * kept in this data folder. What is signed lies in the database, for all, and in the folder, where who
 * can write the database alone does not reach it.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  #last: ChainHead | undefined;
  #keptSeq = 0;
  #triedSeq: number | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /** Takes note of how far the log has come; every 1,000 events it is signed, behind the caller. */
  follow(seq: number): void {
    this.#triedSeq ??= seq;
    if (seq - this.#triedSeq < eventsBetween) return;
    this.#triedSeq = seq;
    void this.write();
  }

  /** Signs the log as it stands, if it has grown; a failure is logged. */
  write(): Promise<void> {
    this.#writing ??= this.#write()
      .catch((error: unknown) => {
        this.#options.log.warn({ err: error }, 'the audit log could not be signed');
      })
      .finally(() => {
        this.#writing = undefined;
      });
    return this.#writing;
  }

  /** Signs what was written until this was called. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.write();
  }

  async #write(): Promise<void> {
    const { sql, checkpointKey, log } = this.#options;
    this.#last ??= await this.#findFirst();
    const { valid, head, brokenAt, reason } = await verifyAudit(sql, {
      checkpointKey,
      from: this.#last,
    });
    this.#triedSeq = head.seq;
    if (!valid) {
      log.error({ brokenAt, reason }, 'the audit log is not what was written: it is not signed');
      return;
    }
    if (head.seq <= this.#keptSeq) return;
    const signed = checkpointKey.sign(head);
    await insertCheckpoint(sql, signed);
    await checkpointKey.keep(signed);
    this.#last = head;
    this.#keptSeq = head.seq;
  }

  /**
   * Where to go on after a start: at what this data folder kept, which nothing in the database stands
   * in for, as others may have signed a log that was cut before. A folder that kept nothing begins at
   * what others signed last.
   */
  async #findFirst(): Promise<SignedHead | undefined> {
    const { sql, checkpointKey } = this.#options;
    const kept = await checkpointKey.readKept();
    if (kept && checkpointKey.isSigned(kept)) {
      this.#keptSeq = kept.seq;
      return kept;
    }
    const stored = await findLastCheckpoint(sql);
    return stored && checkpointKey.isSigned(stored) ? stored : undefined;
  }
}
