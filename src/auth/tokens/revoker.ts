import type { Topic } from '../../kit/bus/bus.ts';
import type { RevocableToken, Revocation, RevocationList } from '../../kit/identity/revocations.ts';
import type { RevocationPage } from '../../kit/identity/revocation-feed.ts';
import type { Log } from '../../kit/log.ts';
import {
  deleteExpiredRevocations,
  insertRevocations,
  readRevocations,
} from './revocation-store.ts';
import { issueTimeOf } from './issue-time.ts';
import { inTransaction } from '../store.ts';
import type { Sql, SqlTransaction } from '../tables.ts';
import { accessLifeSeconds } from './tokens.ts';

export interface RevokerOptions {
  readonly sql: Sql;
  readonly list: RevocationList;
  readonly topic: Topic<Revocation>;
  readonly log: Log;
}

/** What is to be revoked. */
export interface Target extends Pick<Revocation, 'kind' | 'id'> {
  /** Unix seconds; at once when absent. */
  readonly startsAt?: number;
  /** Unix seconds; when absent it holds as long as any access token lives that was issued before. */
  readonly expiresAt?: number;
}

const pageSize = 1_000;
// Verifiers tolerate clocks that differ by seconds.
const marginSeconds = 60;

/**
 * Ends tokens before their time: stored first, then in force in this process, then told to all
 * others. What was stored is in force again after a restart.
 */
export class Revoker {
  readonly #options: RevokerOptions;

  constructor(options: RevokerOptions) {
    this.#options = options;
  }

  /** Where each revocation is told to all others. */
  get topic(): Topic<Revocation> {
    return this.#options.topic;
  }

  /**
   * Runs `change` and stores the revocations that it answers, in one transaction; after that they
   * are in force, or will be when they start.
   */
  async revoke(
    change: (trx: SqlTransaction) => Promise<readonly Target[]>,
  ): Promise<readonly Revocation[]> {
    const revocations = await inTransaction(this.#options.sql, async (trx) => {
      const targets = await change(trx);
      const made = targets.map((target) => toRevocation(target, this.#timeOf(target)));
      await insertRevocations(trx, made);
      return made;
    });
    for (const revocation of revocations) this.#options.list.add(revocation);
    await Promise.all(revocations.map((revocation) => this.#publish(revocation)));
    return revocations;
  }

  /** The first revocation that covers a token, while any token that it names could still live. */
  find(token: RevocableToken): Revocation | undefined {
    return this.#options.list.find(token);
  }

  /** The stored revocations after a number, at most 1,000. */
  read(after: number): Promise<RevocationPage> {
    const page = { after, limit: pageSize, nowSeconds: nowInSeconds() };
    return readRevocations(this.#options.sql, page);
  }

  deleteExpired(): Promise<void> {
    return deleteExpiredRevocations(this.#options.sql, nowInSeconds());
  }

  /** A subject may have tokens of the next second already, and those end too. */
  #timeOf({ kind, id }: Target): number {
    return kind === 'subject' ? issueTimeOf(this.#options.list, id) : nowInSeconds();
  }

  /** A bus that is away delays others until they read the stored list; it undoes nothing. */
  async #publish(revocation: Revocation): Promise<void> {
    try {
      await this.#options.topic.publish(revocation);
    } catch (error) {
      this.#options.log.error({ err: error, revocation }, 'a revocation could not be published');
    }
  }
}

function toRevocation({ kind, id, startsAt, expiresAt }: Target, now: number): Revocation {
  const revokedAt = startsAt ?? now;
  return {
    kind,
    id,
    revokedAt,
    expiresAt: (expiresAt ?? revokedAt + accessLifeSeconds) + marginSeconds,
    ...(startsAt === undefined ? {} : { planned: true }),
  };
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
