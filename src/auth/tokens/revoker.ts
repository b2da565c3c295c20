import type { Topic } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import type { RevocableToken, Revocation, RevocationList } from '../../kit/identity/revocations.ts';
import type { RevocationPage } from '../../kit/identity/revocation-feed.ts';
import type { Log } from '../../kit/log.ts';
import {
  deleteExpiredRevocations,
  insertRevocations,
  readRevocations,
} from './revocation-store.ts';
import { inTransaction } from '../store.ts';
import type { Sql, SqlTransaction } from '../tables.ts';
import { accessLifeSeconds, nowInSeconds } from './tokens.ts';

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
export class Revoker implements AsyncDisposable {
  readonly #options: RevokerOptions;
  readonly #outlet: Outlet<Revocation>;

  constructor(options: RevokerOptions) {
    this.#options = options;
    const { topic, log } = options;
    this.#outlet = new Outlet({ topic, what: 'notices of revocations', log });
  }

  /**
   * Runs `change` and stores the revocations that it answers, in one transaction; after that they
   * are in force, or will be when they start. Nobody waits for the bus: where it is away, others read
   * the stored list.
   */
  async revoke(
    change: (trx: SqlTransaction) => Promise<readonly Target[]>,
  ): Promise<readonly Revocation[]> {
    const revocations = await inTransaction(this.#options.sql, async (trx) => {
      const targets = await change(trx);
      const now = nowInSeconds();
      return insertRevocations(
        trx,
        targets.map((target) => toRevocation(target, now)),
      );
    });
    for (const revocation of revocations) {
      this.#options.list.add(revocation);
      this.#outlet.tell(revocation);
    }
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

  /** Resolves when what was revoked is on its way to the others. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#outlet[Symbol.asyncDispose]();
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
