import { Fault } from '../errors.ts';

/** One revocation: every token that it names is refused from then on. */
export interface Revocation {
  /** `token`: a jti. `session`: a login session or API key. `subject`: all issued so far. `key`: a kid. */
  readonly kind: 'token' | 'session' | 'subject' | 'key';
  readonly id: string;
  /** Unix seconds. */
  readonly revokedAt: number;
  /** Unix seconds after which every token that it names has expired anyway. */
  readonly expiresAt: number;
  /**
   * Of a subject: the epoch of the tokens that it gets from then on, so that no clock decides what came
   * before. Absent for one that gets no more.
   */
  readonly tokenEpoch?: number;
  /** True when it begins at `revokedAt` by the reader's clock; else it is in force once it is known. */
  readonly planned?: boolean;
}

/** What a check against revocations needs to know of a token. */
export interface RevocableToken {
  readonly tokenId: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly keyId: string;
  readonly tokenEpoch: number;
}

/** How long a process may go on with what it read last. */
export const revocationsStaleMs = 300_000;

export interface RevocationListOptions {
  /** Milliseconds after a reading for which the list may be relied on; for ever when absent. */
  readonly staleMs?: number;
}

const sweepEvery = 1_000;

/** All revocations that can still matter, in memory; how old they are holds for all who ask it. */
export class RevocationList {
  readonly #staleMs: number;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #inForce = new Map<string, Revocation>();
  readonly #planned = new Map<string, Revocation>();
  #nextBeginsAt = Number.POSITIVE_INFINITY;
  #generation = 0;

  constructor({ staleMs = Number.POSITIVE_INFINITY }: RevocationListOptions = {}) {
    this.#staleMs = staleMs;
  }

  /** Notes that all of the issuer's list is here as it stood at a time, Unix milliseconds. */
  markRead(atMs: number): void {
    this.#readAt = atMs;
  }

  /** Throws `unavailable` when the issuer's list was never read, or not for too long. */
  requireFresh(): void {
    if (Date.now() - this.#readAt <= this.#staleMs) return;
    throw new Fault('unavailable', 'revocations cannot be read now, so no token can be trusted', {
      retryAfter: 1,
    });
  }

  /** Changes whenever something came into force: what was checked under an older one must be checked again. */
  get generation(): number {
    this.#beginPlanned();
    return this.#generation;
  }

  /**
   * Adds a revocation. Of one thing revoked twice the first time holds; only a subject's moves
   * forward, because it names all that was issued before.
   */
  add(revocation: Revocation): void {
    if (revocation.planned && revocation.revokedAt > Date.now() / 1000) this.#plan(revocation);
    else this.#enforce(revocation);
  }

  /** True when the token, or what it was issued under, was revoked. */
  covers(token: RevocableToken): boolean {
    this.#beginPlanned();
    if (this.#inForce.size === 0) return false;
    if (this.#inForce.has(keyOf('token', token.tokenId))) return true;
    if (this.#inForce.has(keyOf('session', token.sessionId))) return true;
    if (this.#inForce.has(keyOf('key', token.keyId))) return true;
    const subject = this.#inForce.get(keyOf('subject', token.subject));
    return subject !== undefined && token.tokenEpoch < epochOf(subject);
  }

  /** The first revocation that covers the token; undefined while it is good. */
  find(token: RevocableToken): Revocation | undefined {
    this.#beginPlanned();
    const subject = this.#inForce.get(keyOf('subject', token.subject));
    const found = [
      this.#inForce.get(keyOf('token', token.tokenId)),
      this.#inForce.get(keyOf('session', token.sessionId)),
      this.#inForce.get(keyOf('key', token.keyId)),
      subject && token.tokenEpoch < epochOf(subject) ? subject : undefined,
    ];
    return found
      .filter((one) => one !== undefined)
      .toSorted((one, other) => one.revokedAt - other.revokedAt)
      .at(0);
  }

  #enforce(revocation: Revocation): void {
    if (!addTo(this.#inForce, revocation)) return;
    this.#generation += 1;
    if (this.#generation % sweepEvery === 0) this.#sweep();
  }

  #plan(revocation: Revocation): void {
    addTo(this.#planned, revocation);
    this.#nextBeginsAt = Math.min(this.#nextBeginsAt, revocation.revokedAt);
  }

  /** Puts in force what has fallen due. */
  #beginPlanned(): void {
    const now = Date.now() / 1000;
    if (now < this.#nextBeginsAt) return;
    this.#nextBeginsAt = Number.POSITIVE_INFINITY;
    const planned = [...this.#planned.values()];
    this.#planned.clear();
    for (const revocation of planned) this.add(revocation);
  }

  #sweep(): void {
    const now = Date.now() / 1000;
    for (const [key, { expiresAt }] of this.#inForce) {
      if (expiresAt < now) this.#inForce.delete(key);
    }
  }
}

/** False when that says nothing new. */
function addTo(revocations: Map<string, Revocation>, revocation: Revocation): boolean {
  const key = keyOf(revocation.kind, revocation.id);
  const known = revocations.get(key);
  const next = known ? merge(known, revocation) : revocation;
  revocations.set(key, next);
  return next !== known;
}

/** What two revocations of one thing come to; the known one itself when nothing is new. */
function merge(known: Revocation, other: Revocation): Revocation {
  if (known.kind === 'subject') return epochOf(known) >= epochOf(other) ? known : other;
  const revokedAt = Math.min(known.revokedAt, other.revokedAt);
  const expiresAt = Math.max(known.expiresAt, other.expiresAt);
  const isNew = revokedAt !== known.revokedAt || expiresAt !== known.expiresAt;
  return isNew ? { ...known, revokedAt, expiresAt } : known;
}

/** The first epoch whose tokens a revocation of a subject leaves. */
function epochOf({ tokenEpoch = Number.POSITIVE_INFINITY }: Revocation): number {
  return tokenEpoch;
}

function keyOf(kind: Revocation['kind'], id: string): string {
  return `${kind}:${id}`;
}
