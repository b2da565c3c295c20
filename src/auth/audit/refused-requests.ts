import type { HttpServer } from '../../kit/http/server.ts';
import type { Refusal } from '../../kit/http/fault-reply.ts';
import { authContract } from '../contract.ts';
import type { AuditEventType } from '../events.ts';
import { addressKey } from '../limits/attempt-limits.ts';
import type { AuditLog } from './audit.ts';

/** Forged tokens: those that have expired or were revoked are in everybody's hands. */
const forged: ReadonlySet<unknown> = new Set(['token_invalid', 'voucher_refused']);
const { revoke, oauthAuthorize } = authContract.routes;

/** Audits the refused requests that nothing else tells of, those of one caller and route as one. */
export function auditRefusals(http: Pick<HttpServer, 'watchRefusals'>, audit: AuditLog): void {
  http.watchRefusals((refusal) => {
    const eventType = eventTypeOf(refusal);
    if (eventType === undefined) return;
    const { fault, route, origin, identity } = refusal;
    const address = addressKey(origin.ip);
    const event = {
      eventType,
      userId: identity?.subject,
      clientId: identity?.clientId,
      origin,
      provider: 'token',
      facts: { route, reason: fault.detail['reason'] ?? fault.reason },
    };
    audit.tally(event, identity ? `${identity.subject} ${route}` : address);
  });
}

/** Undefined for what is told of elsewhere, or is no attempt at more than the caller may. */
function eventTypeOf({ fault, route }: Refusal): AuditEventType | undefined {
  const { code, reason, detail } = fault;
  if (reason === 'invalid_token' && forged.has(detail['reason'])) return 'token_refused';
  if (route === routeOf(oauthAuthorize) && reason === 'redirect_uri_mismatch') {
    return 'authorization_refused';
  }
  return code === 'forbidden' && route !== routeOf(revoke) ? 'access_refused' : undefined;
}

function routeOf({ method, url }: { readonly method: string; readonly url: string }): string {
  return `${method} ${url}`;
}
