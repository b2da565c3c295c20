import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { insertAuditRecords, listAuditRecords } from './audit-store.ts';
import type { AuditQuery, AuditRecord } from './audit-store.ts';
import type { AuditEventType } from '../events.ts';
import type { Sql } from '../tables.ts';

/** Where a request came from. */
export interface Origin {
  readonly ip: string;
  readonly userAgent: string;
}

/** Something that happened. Never put a secret, a token or a password into it. */
export interface AuditEvent {
  readonly eventType: AuditEventType;
  /** Whom it concerns, or who did it; absent when nobody is known. */
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly origin: Origin;
  /** How the caller had logged in: `password`, `api-key`, `refresh-token`, `token`. */
  readonly provider: string;
  /** Further facts; texts are cut and cleaned like everything that a caller controls. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

const textLengthMax = 256;

/** The audit log. An event is on the disk when its promise resolves; who cannot write it must not go on. */
export class AuditLog implements AsyncDisposable {
  readonly #sql: Sql;
  readonly #batch: Batch<AuditRecord>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#batch = createBatch<AuditRecord>({
      flush: (records) => insertAuditRecords(sql, records),
      maxItems: 500,
      maxDelayMs: 2,
      maxPending: 10_000,
    });
  }

  /** Writes an event together with those of other callers. */
  record(event: AuditEvent): Promise<void> {
    return this.#batch.add(recordOf(event));
  }

  /** Writes an event in the transaction of what it tells: both happen or neither. */
  recordWithin(trx: Sql, event: AuditEvent): Promise<void> {
    return insertAuditRecords(trx, [recordOf(event)]);
  }

  list(query: AuditQuery): Promise<{ records: AuditRecord[]; total: number }> {
    return listAuditRecords(this.#sql, query);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }
}

function recordOf(event: AuditEvent): AuditRecord {
  const { eventType, userId = '', clientId = '', origin, provider, facts = {} } = event;
  return {
    event_type: eventType,
    user_id: userId,
    occurred_at: new Date(),
    ip: origin.ip,
    user_agent: toSafeText(origin.userAgent),
    client_id: toSafeText(clientId),
    metadata: { mfa: false, provider, ...mapTexts(facts) },
  };
}

function mapTexts(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(facts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'string' ? toSafeText(value) : value]),
  );
}

/** At most 256 characters, with control, format and unpaired surrogate characters written as escapes. */
function toSafeText(text: string): string {
  const start = text.slice(0, textLengthMax);
  return start
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escapeCharacter)
    .slice(0, textLengthMax);
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
