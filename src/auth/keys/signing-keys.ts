import type { Subscription, Topic } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { administrationEvent, type Administrator } from '../accounts/administrator.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditEvent } from '../audit/audit-event.ts';
import { inTransaction } from '../store.ts';
import type { Sql, SqlTransaction } from '../tables.ts';
import type { Revoker } from '../tokens/revoker.ts';
import { sessionLifeSeconds } from '../tokens/tokens.ts';
import { createKeyMaterial, type KeyMaterial } from './key-material.ts';
import type { Keyring } from './keyring.ts';
import {
  endSigning,
  findKeyInState,
  findSigningKey,
  lockSigningKeys,
  pageSigningKeys,
  retireKeys,
  type SigningKeyRecord,
} from './signing-key-store.ts';
import { ensureSuccession } from './succession.ts';

/** Says that the signing keys changed; what they are now stands in the database. */
export interface KeyChange {
  readonly kid: string;
}

export interface SigningKeysOptions {
  readonly sql: Sql;
  readonly keyring: Keyring;
  readonly revoker: Revoker;
  readonly audit: AuditLog;
  readonly topic: Topic<KeyChange>;
  /** How old an active key gets before another takes over; 0 for no limit. */
  readonly rotationDays: number;
  /** How often other processes' changes are looked for, of which a notice may be lost; 0 for never. */
  readonly rereadMs: number;
  readonly log: Log;
}

/** Which key signs from now on, and which did before. */
export interface KeyRotation {
  readonly kid: string;
  readonly previousKid: string;
  readonly rotatedAt: Date;
}

/** A key that is good for nothing any more, and the one that signs now. */
export interface KeyRevocation {
  readonly kid: string;
  readonly activeKid: string;
  readonly revokedAt: Date;
}

interface RotationOrder {
  readonly eventOf: (facts: AuditEvent['facts']) => AuditEvent;
  /** Rotate only a key that has been active since before then. */
  readonly activeSince?: Date;
}

const dayMs = 86_400_000;
// A replica may sign with the key before for as long as it takes to learn of a rotation.
const previousKeptMs = sessionLifeSeconds * 1000 + dayMs;
// Who stole a key can sign tokens of any length of life.
const revokedForSeconds = 100 * 365 * 86_400;

/** The life of the signing keys: pending, active, previous, and at last retired or revoked. */
export class SigningKeys implements AsyncDisposable {
  readonly #options: SigningKeysOptions;
  readonly #outlet: Outlet<KeyChange>;
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SigningKeysOptions) {
    this.#options = options;
    const { topic, log } = options;
    this.#outlet = new Outlet({ topic, what: 'notices of changed signing keys', log });
  }

  /** Follows what other replicas change. */
  async start(): Promise<void> {
    const { topic, keyring, rereadMs, log } = this.#options;
    this.#subscription = await topic.subscribe(() => {
      keyring.reload().catch((error: unknown) => {
        log.warn({ err: error }, 'changed signing keys could not be read');
      });
    });
    if (rereadMs > 0) this.#timer = setInterval(() => void keyring.freshen(), rereadMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#subscription?.close();
    await this.#outlet[Symbol.asyncDispose]();
  }

  /** All keys there ever were, the newest first. */
  list(page: {
    readonly limit: number;
    readonly offset: number;
  }): Promise<{ keys: SigningKeyRecord[]; total: number }> {
    return pageSigningKeys(this.#options.sql, page);
  }

  /** Lets the next key sign at once; tokens of the one before stay good until they expire. */
  async rotate(by: Administrator): Promise<KeyRotation> {
    const eventOf = (facts: AuditEvent['facts']) =>
      administrationEvent(by, 'signing_key_rotated', facts);
    const rotation = await this.#rotate({ eventOf });
    if (rotation) return rotation;
    throw new Error('a rotation that waits for no time was not done');
  }

  /**
   * Ends a key whose private half others may know, and with it every token that it signed; when it
   * was the one that signs, the next takes over. Throws `not_found` for an unknown id; a key that
   * was revoked before is no error.
   */
  async revoke(
    kid: string,
    { reason }: { readonly reason?: string | undefined },
    by: Administrator,
  ): Promise<KeyRevocation> {
    const { revoker, audit, sql } = this.#options;
    const { state: found } = required(await findSigningKey(sql, kid));
    const isNeeded = found === 'active' || found === 'pending';
    const spares = isNeeded ? [await createKeyMaterial()] : [];
    await revoker.revoke(async (trx) => {
      await lockSigningKeys(trx);
      const { state } = required(await findSigningKey(trx, kid));
      if (state === 'revoked') return [];
      await endSigning(trx, kid, 'revoked');
      const activeKid = await this.#ensureSuccession(trx, spares);
      const facts = { kid, state, activeKid, reason };
      await audit.recordWithin(trx, administrationEvent(by, 'signing_key_revoked', facts));
      return [
        { kind: 'key', id: kid, expiresAt: Math.floor(Date.now() / 1000) + revokedForSeconds },
      ];
    });
    await this.#announce(kid);
    const [revoked, active] = await Promise.all([
      findSigningKey(sql, kid),
      findKeyInState(sql, 'active'),
    ]);
    const revokedAt = required(revoked).state_changed_at;
    return { kid, activeKid: required(active).kid, revokedAt };
  }

  /**
   * Rotates a key that has signed for long enough, retires keys whose last token has expired, and
   * reads what other replicas changed.
   */
  async maintain(): Promise<void> {
    const { sql, keyring, rotationDays } = this.#options;
    const now = Date.now();
    await retireKeys(sql, new Date(now - previousKeptMs));
    if (rotationDays > 0) await this.#rotateWhenDue(new Date(now - rotationDays * dayMs));
    await keyring.reload();
  }

  async #rotateWhenDue(activeSince: Date): Promise<void> {
    const active = await findKeyInState(this.#options.sql, 'active');
    if (active && active.state_changed_at > activeSince) return;
    await this.#rotate({ eventOf: scheduledRotation, activeSince });
  }

  /** Undefined when another replica did it meanwhile. */
  async #rotate({ eventOf, activeSince }: RotationOrder): Promise<KeyRotation | undefined> {
    const { sql, audit } = this.#options;
    const spares = [await createKeyMaterial()];
    const rotation = await inTransaction(sql, async (trx) => {
      await lockSigningKeys(trx);
      const active = required(await findKeyInState(trx, 'active'));
      if (activeSince && active.state_changed_at > activeSince) return undefined;
      await endSigning(trx, active.kid, 'previous');
      const kid = await this.#ensureSuccession(trx, spares);
      const made = { kid, previousKid: active.kid };
      await audit.recordWithin(trx, eventOf(made));
      return { ...made, rotatedAt: new Date() };
    });
    if (rotation) await this.#announce(rotation.kid);
    return rotation;
  }

  #ensureSuccession(trx: SqlTransaction, spares: readonly KeyMaterial[]): Promise<string> {
    return ensureSuccession(trx, { sealer: this.#options.keyring.sealer, spares });
  }

  /** In force here when it resolves; a bus that is away delays others, and nobody here. */
  async #announce(kid: string): Promise<void> {
    this.#outlet.tell({ kid });
    await this.#options.keyring.reload();
  }
}

function scheduledRotation(facts: AuditEvent['facts']): AuditEvent {
  const origin = { ip: '', userAgent: '' };
  return { eventType: 'signing_key_rotated', provider: 'schedule', origin, facts: facts ?? {} };
}

function required(key: SigningKeyRecord | undefined): SigningKeyRecord {
  if (key) return key;
  throw new Fault('not_found', 'there is no such signing key', { reason: 'key_not_found' });
}
