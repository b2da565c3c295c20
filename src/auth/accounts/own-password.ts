import { Fault } from '../../kit/errors.ts';
import { administrationEvent, type Administrator } from './administrator.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AttemptLimit } from '../limits/attempt-limits.ts';
import { requireLoginSession } from '../sessions/login-session.ts';
import { endOpenSessions } from '../sessions/session-list-store.ts';
import type { Sql, UserRow } from '../tables.ts';
import type { Revoker } from '../tokens/revoker.ts';
import type { Passwords } from './passwords.ts';
import { changePasswordHash, findUser } from './user-store.ts';

export interface OwnPasswordOptions {
  readonly sql: Sql;
  readonly passwords: Passwords;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
  /** How often a user may show the password to a session that is open already. */
  readonly limit: Pick<AttemptLimit, 'take' | 'refusal'>;
}

/** What users do with their own password once they are logged in. */
export class OwnPassword {
  readonly #options: OwnPasswordOptions;

  constructor(options: OwnPasswordOptions) {
    this.#options = options;
  }

  /**
   * The user behind a login session who has shown the password again, so that a stolen access token
   * alone changes no way to log in. Throws `invalid_credentials` for a wrong one, `exhausted` for too
   * many, and `login_session_required` for callers who never logged in.
   */
  async require(password: string, by: Administrator): Promise<UserRow> {
    const { sql, passwords, limit, audit } = this.#options;
    requireLoginSession(by.identity);
    passwords.requireLength(password);
    const allowance = await limit.take(by.identity.subject);
    if (!allowance.isAllowed) throw limit.refusal(allowance);
    const user = await findUser(sql, by.identity.subject);
    const isMatch = await passwords.verify(user?.password_hash, password);
    if (user && isMatch && !user.disabled) return user;
    await audit.record(administrationEvent(by, 'password_check_failure', {}));
    throw wrongPassword();
  }

  /** Replaces the password and ends every other session of the user. */
  async change(
    { current, next }: { readonly current: string; readonly next: string },
    by: Administrator,
  ): Promise<void> {
    const { passwords, revoker, audit } = this.#options;
    passwords.requireLength(next);
    const user = await this.require(current, by);
    const hash = await passwords.hash(next);
    await revoker.revoke(async (trx) => {
      const change = { userId: user.id, from: user.password_hash, to: hash };
      // Another change came first, so what was shown is the password no more.
      if (!(await changePasswordHash(trx, change))) throw wrongPassword();
      const exceptId = by.identity.sessionId;
      const ended = await endOpenSessions(trx, { userId: user.id, exceptId });
      const facts = { sessionsEnded: ended.length };
      await audit.recordWithin(trx, administrationEvent(by, 'password_changed', facts));
      return ended.map(({ id }) => ({ kind: 'session', id }));
    });
  }
}

function wrongPassword(): Fault {
  return new Fault('unauthenticated', 'the password is wrong', {
    reason: 'invalid_credentials',
    detail: { reason: 'invalid_credentials' },
  });
}
