import type { Handlers } from '../../kit/http/call.ts';
import { readOrigin } from '../../kit/http/vouching.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import type { OpenSession } from '../sessions/session-list-store.ts';

/** The edge of the login sessions. */
export function sessionHandlers({ sessionList, verifier }: AuthParts) {
  return {
    listSessions: async ({ query, identity }) => {
      const { sessions, total } = await sessionList.list(query, { identity });
      const { limit, offset } = query;
      const shown = sessions.map((session) => toSession(session, identity.sessionId));
      return { sessions: shown, total, limit, offset };
    },
    endSessions: async ({ query, identity, origin }) => {
      const { userId, except } = query;
      const choice = { userId, isCurrentKept: except === 'current' };
      return { ended: await sessionList.endAll(choice, { identity, origin }) };
    },
    endSession: async (call) => {
      const { params, identity } = call;
      const origin = await readOrigin(call, (token) => verifier.verify(token));
      await sessionList.end(params.id, { identity, origin });
      return { id: params.id, ended: true };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

function toSession(session: OpenSession, currentId: string) {
  return {
    id: session.id,
    userId: session.user_id,
    clientId: session.client_id,
    createdAt: session.created_at.toISOString(),
    lastUsedAt: session.last_used_at.toISOString(),
    expiresAt: session.expires_at.toISOString(),
    current: session.id === currentId,
  };
}
