import { Fault } from '../../kit/errors.ts';
import type { AuditEvent, AuditLog, Origin } from '../audit/audit.ts';
import type { Passwords } from './passwords.ts';
import type { Sessions, TokenPair } from '../sessions/sessions.ts';
import type { Sql } from '../tables.ts';
import { findUserByName } from './user-store.ts';
import { usernameKey } from './usernames.ts';

export interface PasswordLoginOptions {
  readonly sql: Sql;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly audit: AuditLog;
}

export interface LoginAttempt {
  readonly username: string;
  readonly password: string;
  readonly clientId: string;
  readonly origin: Origin;
}

/** The password login of first-party clients. */
export class PasswordLogin {
  readonly #options: PasswordLoginOptions;

  constructor(options: PasswordLoginOptions) {
    this.#options = options;
  }

  /**
   * Opens a session. An unknown user, a wrong password and a disabled user get the same answer,
   * `invalid_credentials`, after the same work.
   */
  async login(attempt: LoginAttempt): Promise<TokenPair> {
    const { sql, passwords, sessions, audit } = this.#options;
    passwords.requireLength(attempt.password);
    const user = await findUserByName(sql, usernameKey(attempt.username));
    const isMatch = await passwords.verify(user?.password_hash, attempt.password);
    const isWelcome = user && isMatch && !user.disabled;
    const pair = isWelcome ? await sessions.open(user, attempt.clientId) : undefined;
    await audit.record({
      eventType: pair ? 'login_success' : 'login_failure',
      ...eventOf(attempt, user?.id),
    });
    if (pair) return pair;
    throw new Fault('unauthenticated', 'wrong username or password', {
      reason: 'invalid_credentials',
      detail: { reason: 'invalid_credentials' },
    });
  }
}

function eventOf(
  { username, clientId, origin }: LoginAttempt,
  userId: string | undefined,
): Omit<AuditEvent, 'eventType'> {
  return { userId, clientId, origin, provider: 'password', facts: { username } };
}
