/** One revocation: every token that it names is refused from then on. */
export interface Revocation {
  /** `token`: a jti. `session`: a login session or API key. `subject`: all issued before now. `key`: a kid. */
  readonly kind: 'token' | 'session' | 'subject' | 'key';
  readonly id: string;
  /** Unix seconds. */
  readonly revokedAt: number;
  /** Unix seconds after which every token that it names has expired anyway. */
  readonly expiresAt: number;
}

/** What a check against revocations needs to know of a token. */
export interface RevocableToken {
  readonly tokenId: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly keyId: string;
  /** Unix seconds. */
  readonly issuedAt: number;
}

const sweepEvery = 1_000;

/** All revocations that can still matter, in memory. */
export class RevocationList {
  readonly #byKindAndId = new Map<string, Revocation>();
  #generation = 0;

  /** Changes whenever something was added: what was checked under an older one must be checked again. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Adds a revocation. Of one thing revoked twice the first time holds; only a subject's moves
   * forward, because it names all that was issued before.
   */
  add(revocation: Revocation): void {
    const key = keyOf(revocation.kind, revocation.id);
    const known = this.#byKindAndId.get(key);
    const next = known ? merge(known, revocation) : revocation;
    if (next === known) return;
    this.#byKindAndId.set(key, next);
    this.#generation += 1;
    if (this.#generation % sweepEvery === 0) this.#sweep();
  }

  /** True when the token, or what it was issued under, was revoked. */
  covers(token: RevocableToken): boolean {
    if (this.#byKindAndId.size === 0) return false;
    if (this.#byKindAndId.has(keyOf('token', token.tokenId))) return true;
    if (this.#byKindAndId.has(keyOf('session', token.sessionId))) return true;
    if (this.#byKindAndId.has(keyOf('key', token.keyId))) return true;
    const subject = this.#byKindAndId.get(keyOf('subject', token.subject));
    return subject !== undefined && token.issuedAt <= subject.revokedAt;
  }

  /** The first revocation that covers the token; undefined while it is good. */
  find(token: RevocableToken): Revocation | undefined {
    const subject = this.#byKindAndId.get(keyOf('subject', token.subject));
    const found = [
      this.#byKindAndId.get(keyOf('token', token.tokenId)),
      this.#byKindAndId.get(keyOf('session', token.sessionId)),
      this.#byKindAndId.get(keyOf('key', token.keyId)),
      subject && token.issuedAt <= subject.revokedAt ? subject : undefined,
    ];
    return found
      .filter((one) => one !== undefined)
      .toSorted((one, other) => one.revokedAt - other.revokedAt)
      .at(0);
  }

  #sweep(): void {
    const now = Date.now() / 1000;
    for (const [key, { expiresAt }] of this.#byKindAndId) {
      if (expiresAt < now) this.#byKindAndId.delete(key);
    }
  }
}

/** What two revocations of one thing come to; the known one itself when nothing is new. */
function merge(known: Revocation, other: Revocation): Revocation {
  if (known.kind === 'subject') return known.revokedAt >= other.revokedAt ? known : other;
  const revokedAt = Math.min(known.revokedAt, other.revokedAt);
  const expiresAt = Math.max(known.expiresAt, other.expiresAt);
  const isNew = revokedAt !== known.revokedAt || expiresAt !== known.expiresAt;
  return isNew ? { ...known, revokedAt, expiresAt } : known;
}

function keyOf(kind: Revocation['kind'], id: string): string {
  return `${kind}:${id}`;
}
