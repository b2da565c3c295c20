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

/** Signs the head of the audit log now and then, never one that does not follow from the last. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  #last: ChainHead | undefined;
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

  /** Signs the log as it stands; a failure is logged. */
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

  async #write(): Promise<void> {
    const { sql, checkpointKey, log } = this.#options;
    this.#last ??= await this.#findLast();
    const { valid, head, brokenAt, reason } = await verifyAudit(sql, {
      checkpointKey,
      from: this.#last,
    });
    this.#triedSeq = head.seq;
    if (!valid) {
      log.error({ brokenAt, reason }, 'the audit log is not what was written: it is not signed');
      return;
    }
    if (head.seq <= (this.#last?.seq ?? 0)) return;
    const signed = checkpointKey.sign(head);
    await insertCheckpoint(sql, signed);
    await checkpointKey.keep(signed);
    this.#last = head;
  }

  /** What was signed last by anybody who has the key, here or on another replica. */
  async #findLast(): Promise<SignedHead | undefined> {
    const { sql, checkpointKey } = this.#options;
    const found = [await checkpointKey.readKept(), await findLastCheckpoint(sql)];
    const good = found.filter((head) => head !== undefined && checkpointKey.isSigned(head));
    return good.toSorted((one, other) => (other?.seq ?? 0) - (one?.seq ?? 0))[0];
  }
}
