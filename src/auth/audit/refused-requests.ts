import type { HttpServer } from '../../kit/http/server.ts';
import type { Refusal } from '../../kit/http/fault-reply.ts';
import { authContract } from '../contract.ts';
import type { AuditEventType } from '../events.ts';
import type { AuditLog } from './audit.ts';

/**
 * Why a token is refused that may be in the wrong hands: it is forged, or somebody ended it. Those that
 * have expired are in everybody's.
 */
export const suspectReasons: ReadonlySet<unknown> = new Set([
  'token_invalid',
  'token_revoked',
  'voucher_refused',
]);
const { revoke, oauthAuthorize } = authContract.routes;

/** Audits the refused requests that nothing else tells of, those of one caller and route as one. */
export function auditRefusals(http: Pick<HttpServer, 'watchRefusals'>, audit: AuditLog): void {
  http.watchRefusals((refusal) => {
    const eventType = eventTypeOf(refusal);
    if (eventType === undefined) return;
    const { fault, route, origin, identity } = refusal;
    const event = {
      eventType,
      userId: identity?.subject,
      clientId: identity?.clientId,
      origin,
      provider: 'token',
      facts: { route, reason: fault.detail['reason'] ?? fault.reason },
    };
    audit.tally(event, identity && `${identity.subject} ${route}`);
  });
}

/** Undefined for what is told of elsewhere, or is no attempt at more than the caller may. */
function eventTypeOf({ fault, route }: Refusal): AuditEventType | undefined {
  const { code, reason, detail } = fault;
  if (reason === 'invalid_token' && suspectReasons.has(detail['reason'])) return 'token_refused';
  const isCallers = fault.status < 500 && code !== 'exhausted';
  if (route === routeOf(oauthAuthorize) && isCallers) return 'authorization_refused';
  return code === 'forbidden' && route !== routeOf(revoke) ? 'access_refused' : undefined;
}

function routeOf({ method, url }: { readonly method: string; readonly url: string }): string {
  return `${method} ${url}`;
}
