import { decodeJwt } from 'jose';
import { findUser } from '../accounts/user-store.ts';
import { Fault } from '../../kit/errors.ts';
import type { Verifier } from '../../kit/identity/verifier.ts';
import type { RoleTable } from '../roles/roles.ts';
import { findSession } from '../sessions/session-store.ts';
import { standingOf } from '../sessions/successors.ts';
import type { Sql } from '../tables.ts';
import type { TokenMint } from './tokens.ts';

export interface IntrospectionOptions {
  readonly sql: Sql;
  readonly verifier: Verifier;
  readonly mint: TokenMint;
  readonly roles: RoleTable;
}

/** What is to be said of a good token (RFC 7662, section 2.2). */
export interface ActiveToken {
  readonly active: true;
  readonly scope: string;
  readonly client_id: string;
  readonly username?: string;
  readonly token_type: 'Bearer';
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly iss: string;
  readonly jti: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** Says of a token that is not good nothing but that. */
export type Introspected = ActiveToken | { readonly active: false };

interface Standing {
  readonly clientId: string;
  readonly username: string | undefined;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** Tells resource servers what a token stands for at this moment (RFC 7662). */
export class Introspection {
  readonly #options: IntrospectionOptions;

  constructor(options: IntrospectionOptions) {
    this.#options = options;
  }

  /** Access tokens while they are good; refresh tokens while they could still be traded. */
  async introspect(token: string): Promise<Introspected> {
    const standing = (await this.#findAccess(token)) ?? (await this.#findRefresh(token));
    return standing ? describe(token, standing) : { active: false };
  }

  async #findAccess(token: string): Promise<Standing | undefined> {
    const { verifier, sql } = this.#options;
    try {
      const { subject, kind, clientId, roles, permissions } = await verifier.verify(token);
      const user = kind === 'user' ? await findUser(sql, subject) : undefined;
      return { clientId, username: user?.username, roles, permissions };
    } catch (error) {
      if (error instanceof Fault && error.code === 'unauthenticated') return undefined;
      throw error;
    }
  }

  async #findRefresh(token: string): Promise<Standing | undefined> {
    const { mint, sql, roles: table } = this.#options;
    const claims = await readRefresh(mint, token);
    if (!claims) return undefined;
    const { sessionId, clientId } = claims;
    const state = await findSession(sql, sessionId);
    if (!state || state.isDisabled) return undefined;
    const { session } = state;
    if (standingOf(session, token) !== 'good') return undefined;
    if (session.revoked_at || session.expires_at.getTime() <= Date.now()) return undefined;
    const user = await findUser(sql, state.user.id);
    const roles = table.rolesOf(state.user);
    const permissions = table.permissionsOf(state.user);
    return { clientId, username: user?.username, roles, permissions };
  }
}

async function readRefresh(mint: TokenMint, token: string) {
  try {
    return await mint.readRefresh(token);
  } catch (error) {
    if (error instanceof Fault && error.reason === 'invalid_grant') return undefined;
    throw error;
  }
}

function describe(token: string, standing: Standing): ActiveToken {
  const { exp = 0, iat = 0, nbf = 0, sub = '', iss = '', jti = '', aud = [] } = decodeJwt(token);
  const { clientId, username, roles, permissions } = standing;
  return {
    active: true,
    scope: permissions.join(' '),
    client_id: clientId,
    ...(username === undefined ? {} : { username }),
    token_type: 'Bearer',
    exp,
    iat,
    nbf,
    sub,
    aud: [aud].flat(),
    iss,
    jti,
    roles,
    permissions,
  };
}
