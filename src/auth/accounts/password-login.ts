import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AuditEvent, AuditLog, Origin } from '../audit/audit.ts';
import { addressKey } from '../limits/attempt-limits.ts';
import { findLoginUser, rememberAddress, type LoginUser } from '../limits/known-address-store.ts';
import { addressKnownMs } from '../limits/limits.ts';
import type { LoginSource } from '../limits/login-limits.ts';
import type { SecondFactor } from '../second-factor/second-factor.ts';
import type { Sessions, TokenPair } from '../sessions/sessions.ts';
import type { Sql } from '../tables.ts';
import { isWeakHash, type Passwords } from './passwords.ts';
import { replacePasswordHash } from './password-store.ts';
import { usernameKey } from './usernames.ts';

export interface PasswordLoginOptions {
  readonly sql: Sql;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly secondFactor: SecondFactor;
  readonly audit: AuditLog;
  readonly log: Log;
}

export interface LoginAttempt {
  readonly username: string;
  readonly password: string;
  readonly clientId: string;
  readonly origin: Origin;
  /** A code of the second factor. */
  readonly otp?: string | undefined;
  /** Ends the wait for a turn of the password check. */
  readonly signal?: AbortSignal;
}

/** An attempt whose user, if there is one, has been looked up. */
export interface LoginCandidate {
  readonly attempt: LoginAttempt;
  readonly found: LoginUser | undefined;
  /** What the limits must know before the password is looked at. */
  readonly source: LoginSource;
}

const rememberedAgainMs = 86_400_000;

/** The password login of first-party clients: first `find`, then the limits, then `login`. */
export class PasswordLogin {
  readonly #options: PasswordLoginOptions;

  constructor(options: PasswordLoginOptions) {
    this.#options = options;
  }

  /** Looks up who it may be; throws `invalid` for a password that is too long to be looked at. */
  async find(attempt: LoginAttempt): Promise<LoginCandidate> {
    const { sql, passwords } = this.#options;
    passwords.requireLength(attempt.password);
    const name = { usernameKey: usernameKey(attempt.username) };
    const place = { addressKey: addressKey(attempt.origin.ip) };
    const since = new Date(Date.now() - addressKnownMs);
    const found = await findLoginUser(sql, { ...name, ...place, since });
    const isAddressKnown = found !== undefined && found.lastSeenAt !== null;
    return { attempt, found, source: { ...name, ...place, isAddressKnown } };
  }

  /**
   * Opens a session. An unknown user, a wrong password and a disabled user get the same answer,
   * `invalid_credentials`, after the same work.
   */
  async login(candidate: LoginCandidate): Promise<TokenPair> {
    const { passwords, sessions, secondFactor, audit } = this.#options;
    const { attempt, found } = candidate;
    const user = found?.user;
    const isMatch = await passwords.verify(user?.password_hash, attempt.password, attempt.signal);
    const isWelcome = user && isMatch && !user.disabled;
    const event = eventOf(attempt, user?.id);
    const mfa = isWelcome && found.hasSecondFactor;
    if (mfa) await secondFactor.require(user.id, attempt.otp, event);
    const pair = isWelcome ? await sessions.open(user, attempt.clientId) : undefined;
    await audit.record({
      eventType: pair ? 'login_success' : 'login_failure',
      ...event,
      mfa: mfa === true,
    });
    if (!pair || !found) throw invalidCredentials();
    await this.#keepUp(candidate, found);
    return pair;
  }

  /** What a login leaves behind for the next; the login is good without it. */
  async #keepUp({ attempt, source }: LoginCandidate, found: LoginUser): Promise<void> {
    const kept = [this.#remember(source, found), this.#hashAgain(attempt, found)];
    for (const result of await Promise.allSettled(kept)) {
      if (result.status === 'fulfilled') continue;
      this.#options.log.warn({ err: result.reason }, 'a login could not be followed up');
    }
  }

  async #remember(source: LoginSource, { user, lastSeenAt }: LoginUser): Promise<void> {
    const at = new Date();
    if (at.getTime() - (lastSeenAt?.getTime() ?? 0) < rememberedAgainMs) return;
    const { addressKey: key } = source;
    await rememberAddress(this.#options.sql, { userId: user.id, addressKey: key, at });
  }

  /** A hash that is weaker than those made today is replaced while the password is at hand. */
  async #hashAgain({ password }: LoginAttempt, { user }: LoginUser): Promise<void> {
    const { sql, passwords } = this.#options;
    const { id, password_hash: old } = user;
    if (old === null || !isWeakHash(old)) return;
    await replacePasswordHash(sql, { id, old, new: await passwords.hash(password) });
  }
}

function invalidCredentials(): Fault {
  return new Fault('unauthenticated', 'wrong username or password', {
    reason: 'invalid_credentials',
    detail: { reason: 'invalid_credentials' },
  });
}

function eventOf(
  { username, clientId, origin }: LoginAttempt,
  userId: string | undefined,
): Omit<AuditEvent, 'eventType'> {
  return { userId, clientId, origin, provider: 'password', facts: { username } };
}
