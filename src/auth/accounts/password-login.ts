import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditEvent, Origin } from '../audit/audit-event.ts';
import { addressKey } from '../limits/attempt-limits.ts';
import { rememberAddress } from '../limits/known-address-store.ts';
import type { LoginLimits, LoginSource, LoginVerdict } from '../limits/login-limits.ts';
import type { LoginUser } from '../limits/login-store.ts';
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
  readonly limits: LoginLimits;
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
  readonly source: LoginSource;
}

/** An attempt that was counted, and whether it may go on. */
export interface CountedAttempt extends Pick<LoginVerdict, 'allowance' | 'refusal'> {
  readonly candidate: LoginCandidate;
}

const rememberedAgainMs = 86_400_000;

/** The password login of first-party clients: first `begin`, and `login` unless that refuses. */
export class PasswordLogin {
  readonly #options: PasswordLoginOptions;

  constructor(options: PasswordLoginOptions) {
    this.#options = options;
  }

  /**
   * Counts the attempt and looks up who it may be; throws `invalid` for a password that is too long to
   * be looked at, and counts nothing; that is audited.
   */
  async begin(attempt: LoginAttempt): Promise<CountedAttempt> {
    const { passwords, limits, audit } = this.#options;
    try {
      passwords.requireLength(attempt.password);
    } catch (error) {
      audit.tally(refusedEventOf(attempt, { reason: 'password_too_long' }));
      throw error;
    }
    const source = {
      usernameKey: usernameKey(attempt.username),
      addressKey: addressKey(attempt.origin.ip),
    };
    const { found, allowance, refusal, bucket } = await limits.take(source);
    if (refusal) {
      const userId = found?.user.id;
      audit.tally(refusedEventOf(attempt, { userId, reason: 'rate_limit_exceeded' }), bucket);
    }
    return { candidate: { attempt, found, source }, allowance, refusal };
  }

  /**
   * Opens a session. An unknown user, a wrong password and a disabled user get the same answer,
   * `invalid_credentials`, after the same work.
   */
  async login(candidate: LoginCandidate): Promise<TokenPair> {
    const { passwords, secondFactor, audit } = this.#options;
    const { attempt, found } = candidate;
    const user = found?.user;
    const isMatch = await passwords.verify(user?.password_hash, attempt.password, attempt.signal);
    const isWelcome = user && isMatch && !user.disabled;
    const event = eventOf(attempt, user?.id);
    const mfa = isWelcome && found.hasSecondFactor;
    if (mfa) await secondFactor.require(user.id, attempt.otp, event);
    const told = { ...event, mfa: mfa === true };
    const pair = isWelcome ? await this.#open(candidate, found, told) : undefined;
    if (pair) return pair;
    await audit.record({ ...told, eventType: 'login_failure' });
    throw invalidCredentials();
  }

  async #open(
    candidate: LoginCandidate,
    found: LoginUser,
    told: Omit<AuditEvent, 'eventType'>,
  ): Promise<TokenPair | undefined> {
    const event = { ...told, eventType: 'login_success' } as const;
    const { clientId } = candidate.attempt;
    const pair = await this.#options.sessions.open(found.user, { clientId, event });
    if (pair) await this.#keepUp(candidate, found);
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

function refusedEventOf(
  attempt: LoginAttempt,
  { userId, reason }: { readonly userId?: string | undefined; readonly reason: string },
): AuditEvent {
  const { facts, ...event } = eventOf(attempt, userId);
  return { ...event, eventType: 'login_failure', facts: { ...facts, reason } };
}

function eventOf(
  { username, clientId, origin }: LoginAttempt,
  userId: string | undefined,
): Omit<AuditEvent, 'eventType'> {
  return { userId, clientId, origin, provider: 'password', facts: { username } };
}
