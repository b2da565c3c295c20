import { AnsweredBatch } from '../../kit/database/answered-batch.ts';
import type { AttemptRate } from '../limits/attempt-limits.ts';
import { rotateRefreshTokens, type Rotation, type SessionState } from './session-store.ts';
import type { Sql } from '../tables.ts';

/**
 * Replaces refresh tokens by their successors, those that come together in one statement. Answers the
 * session as it was before; undefined, and nothing happened, when the token is not the good one of
 * its session, the session or user has ended, or the session has refreshed too often. Asking is
 * `exhausted` when too many wait.
 */
export class Rotations extends AnsweredBatch<Rotation, SessionState | undefined> {
  constructor(sql: Sql, rate: AttemptRate) {
    super({
      answer: (rotations) => rotateAll(sql, rotations, rate),
      maxItems: 200,
      maxDelayMs: 1,
      maxPending: 5_000,
    });
  }
}

async function rotateAll(
  sql: Sql,
  rotations: readonly Rotation[],
  rate: AttemptRate,
): Promise<(SessionState | undefined)[]> {
  // Replicas that lock the same sessions do so in one order.
  const sorted = rotations.toSorted((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  const rotated = await rotateRefreshTokens(sql, sorted, rate);
  return rotations.map(({ successorHash }) => rotated.get(successorHash.toString('hex')));
}
