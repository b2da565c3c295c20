import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Log } from '../../kit/log.ts';
import { addressKey } from '../limits/attempt-limits.ts';
import type { Sql } from '../tables.ts';
import { appendAuditRecords, insertPendingRecord, listAuditRecords } from './audit-store.ts';
import type { AuditQuery } from './audit-store.ts';
import type { AuditRecord } from './chain.ts';
import type { CheckpointKey } from './checkpoint-key.ts';
import { Checkpoints } from './checkpoints.ts';
import { Tallies } from './tallies.ts';
import { verifyAudit, type AuditVerification } from './verification.ts';
import type { AuditEvent } from './audit-event.ts';

const textLengthMax = 256;

export interface AuditLogOptions {
  readonly sql: Sql;
  readonly checkpointKey: CheckpointKey;
  readonly log: Log;
}

/**
 * The audit log: a chain of hashes over all replicas, signed now and then. An event is on the disk
 * when its promise resolves; who cannot write it must not go on.
 */
export class AuditLog implements AsyncDisposable {
  readonly #options: AuditLogOptions;
  readonly #checkpoints: Checkpoints;
  readonly #batch: Batch<AuditRecord>;
  readonly #tallies: Tallies;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#checkpoints = new Checkpoints(options);
    this.#batch = createBatch<AuditRecord>({
      flush: async (records) => {
        this.#checkpoints.follow(await appendAuditRecords(options.sql, records));
      },
      maxItems: 500,
      maxDelayMs: 2,
      maxPending: 10_000,
    });
    this.#tallies = new Tallies((event) => {
      this.record(event).catch((error: unknown) => {
        options.log.warn({ err: error, eventType: event.eventType }, 'an event was not audited');
      });
    });
  }

  /** Writes an event together with those of other callers. */
  record(event: AuditEvent): Promise<void> {
    return this.#batch.add(recordOf(event));
  }

  /**
   * Writes an event that anybody can cause for nothing, behind the caller: of each kind and cause at
   * most one a minute beside the first, with how many there were as `count`. The cause is the caller's
   * address with the reason when absent.
   */
  tally(event: AuditEvent, cause = causeOf(event)): void {
    this.#tallies.add(event, cause);
  }

  /** Writes an event in the transaction of what it tells: both happen or neither. */
  recordWithin(trx: Sql, event: AuditEvent): Promise<void> {
    return insertPendingRecord(trx, recordOf(event));
  }

  /**
   * Has a statement write an event together with what it tells, and answers what it does: with the
   * event's number, or undefined when nothing happened.
   */
  async recordWith<T extends { readonly seq: number }>(
    event: AuditEvent,
    write: (record: AuditRecord) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const written = await write(recordOf(event));
    if (written) this.#checkpoints.follow(written.seq);
    return written;
  }

  list(query: AuditQuery): Promise<{ records: AuditRecord[]; total: number }> {
    return listAuditRecords(this.#options.sql, query);
  }

  /** Whether the log is what was written; reads all of it, page by page. */
  verify(): Promise<AuditVerification> {
    const { sql, checkpointKey } = this.#options;
    return verifyAudit(sql, { checkpointKey });
  }

  /** Signs what the log holds now; a failure is logged, for the chain goes on without it. */
  checkpoint(): Promise<void> {
    return this.#checkpoints.write();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tallies[Symbol.dispose]();
    await this.#batch.close();
    await this.#checkpoints[Symbol.asyncDispose]();
  }
}

function causeOf({ origin, facts }: AuditEvent): string {
  return `${addressKey(origin.ip)} ${String(facts?.['reason'])}`;
}

function recordOf(event: AuditEvent): AuditRecord {
  const { eventType, userId = '', clientId = '', origin, provider, facts = {} } = event;
  return {
    event_type: eventType,
    user_id: toSafeText(userId),
    occurred_at: new Date(),
    ip: toSafeText(origin.ip),
    user_agent: toSafeText(origin.userAgent),
    client_id: toSafeText(clientId),
    metadata: { mfa: event.mfa ?? false, provider, ...mapTexts(facts) },
  };
}

function mapTexts(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(facts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, toSafeFact(value)]));
}

function toSafeFact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSafeFact);
  return typeof value === 'string' ? toSafeText(value) : value;
}

/** At most 256 characters, with control, format and unpaired surrogate characters written as escapes. */
function toSafeText(text: string): string {
  const start = text.slice(0, textLengthMax);
  return start
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escapeCharacter)
    .slice(0, textLengthMax)
    .replace(/\p{Cs}$/u, '');
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
