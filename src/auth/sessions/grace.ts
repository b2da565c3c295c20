import type { FoundSession } from './session-store.ts';

const graceMs = 10_000;
// Whoever was cut off comes back at a time of their own, and the suite starts for part of it.
const returnMs = 60_000;

/**
 * For how long the refresh token before the good one is answered with the good one again: ten seconds,
 * in which time that nobody was there to answer does not count. A rotation at most ten seconds older
 * than the last event before this issuer started may be one whose answer was lost with the issuer
 * before it, so it has a minute from the start on.
 */
export class Grace {
  readonly #startedAt = performance.now();
  readonly #lastEventAt: Date | null;

  /** Starts now; the event is the last before that, of whichever replica. */
  constructor(lastEventAt: Date | null) {
    this.#lastEventAt = lastEventAt;
  }

  /** Whether the rotation that made the session's good token is still within it. */
  covers({ session, tokenAgeMs }: Pick<FoundSession, 'tokenAgeMs'> & Rotated): boolean {
    return tokenAgeMs <= graceMs || this.#mayHaveBeenCutOff(session.token_issued_at);
  }

  #mayHaveBeenCutOff(rotatedAt: Date): boolean {
    if (!this.#lastEventAt || performance.now() - this.#startedAt > returnMs) return false;
    const beforeMs = this.#lastEventAt.getTime() - rotatedAt.getTime();
    return beforeMs >= 0 && beforeMs <= graceMs;
  }
}

interface Rotated {
  readonly session: Pick<FoundSession['session'], 'token_issued_at'>;
}
