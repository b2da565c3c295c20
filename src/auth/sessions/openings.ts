import { AnsweredBatch } from '../../kit/database/answered-batch.ts';
import { insertSessions, type Opened, type Opening } from './session-store.ts';
import type { Sql } from '../tables.ts';

/**
 * Opens sessions, those that begin together in one statement. Answers undefined, and nothing happened,
 * when the user is gone or disabled by now, or no longer has the password that the login was checked
 * with. Asking is `exhausted` when too many wait.
 */
export class Openings extends AnsweredBatch<Opening, Opened | undefined> {
  constructor(sql: Sql) {
    super({
      answer: (openings) => insertSessions(sql, openings),
      maxItems: 200,
      maxDelayMs: 1,
      maxPending: 5_000,
    });
  }
}
