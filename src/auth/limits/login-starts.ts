import { AnsweredBatch } from '../../kit/database/answered-batch.ts';
import type { Sql } from '../tables.ts';
import { beginLogins, type LoginAsk, type LoginStart } from './login-store.ts';

/**
 * Counts attempts to log in and says whose names they are, those that come together in one statement.
 * Asking is `exhausted` when too many wait.
 */
export class LoginStarts extends AnsweredBatch<LoginAsk, LoginStart> {
  /** An address stays known for so long to whoever logged in from it. */
  constructor(sql: Sql, addressKnownMs: number) {
    super({
      answer: (asks) => beginLogins(sql, asks, new Date(Date.now() - addressKnownMs)),
      maxItems: 100,
      maxDelayMs: 1,
      maxPending: 5_000,
    });
  }
}
