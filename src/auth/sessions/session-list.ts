import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows, requirePermission } from '../../kit/permissions.ts';
import { administrationEvent, type Administrator } from '../accounts/administrator.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Sql } from '../tables.ts';
import type { Revoker } from '../tokens/revoker.ts';
import { requireLoginSession } from './login-session.ts';
import { endOpenSessions, listOpenSessions, type OpenSession } from './session-list-store.ts';

export interface SessionListOptions {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
}

const administration = 'auth:admin';

/** The open login sessions of users: their own, and with `auth:admin` those of anybody. */
export class SessionList {
  readonly #options: SessionListOptions;

  constructor(options: SessionListOptions) {
    this.#options = options;
  }

  /** The sessions of the caller, or of the user named, for which that takes `auth:admin`. */
  list(
    query: {
      readonly userId?: string | undefined;
      readonly limit: number;
      readonly offset: number;
    },
    { identity }: { readonly identity: Identity },
  ): Promise<{ sessions: OpenSession[]; total: number }> {
    const userId = ownerOf(query.userId, identity);
    return listOpenSessions(this.#options.sql, { ...query, userId });
  }

  /**
   * Ends one session with all its tokens; what is not the caller's is not found without `auth:admin`.
   * That apart it takes a login, for a narrowed token is there to do less.
   */
  async end(id: string, by: Administrator): Promise<void> {
    const { identity } = by;
    const isAdministrator = allows(identity.permissions, administration);
    if (!isAdministrator) requireLoginSession(identity);
    const userId = isAdministrator ? undefined : identity.subject;
    const ended = await this.#end({ id, userId }, by);
    if (ended > 0) return;
    throw new Fault('not_found', 'there is no such open session', { reason: 'session_not_found' });
  }

  /** Ends all sessions of the caller or of the user named; answers how many. */
  async endAll(
    choice: { readonly userId?: string | undefined; readonly isCurrentKept: boolean },
    by: Administrator,
  ): Promise<number> {
    const userId = ownerOf(choice.userId, by.identity);
    if (!allows(by.identity.permissions, administration)) requireLoginSession(by.identity);
    const exceptId = choice.isCurrentKept ? by.identity.sessionId : undefined;
    return this.#end({ userId, exceptId }, by);
  }

  async #end(choice: Parameters<typeof endOpenSessions>[1], by: Administrator): Promise<number> {
    const { revoker, audit } = this.#options;
    const revocations = await revoker.revoke(async (trx) => {
      const ended = await endOpenSessions(trx, choice);
      if (ended.length === 0) return [];
      const facts = {
        targetUserId: ended[0]?.user_id,
        sessionIds: ended.map(({ id }) => id),
      };
      await audit.recordWithin(trx, administrationEvent(by, 'session_ended', facts));
      return ended.map(({ id }) => ({ kind: 'session', id }));
    });
    return revocations.length;
  }
}

/** Whose sessions are meant; throws `forbidden` for those of others without `auth:admin`. */
function ownerOf(userId: string | undefined, identity: Identity): string {
  if (userId === undefined || userId === identity.subject) return identity.subject;
  requirePermission(identity.permissions, administration);
  return userId;
}
