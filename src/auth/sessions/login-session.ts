import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';

/**
 * Throws `forbidden` unless the caller is a user who has logged in: a key that was left somewhere, or a
 * token that was narrowed for somebody else, must not be able to change how its user logs in.
 */
export function requireLoginSession({ kind, sessionId, isNarrowed }: Identity): void {
  if (kind === 'user' && sessionId.startsWith('ses_') && !isNarrowed) return;
  throw new Fault('forbidden', 'this takes a login of the user, no API key and no narrowed token', {
    reason: 'login_session_required',
  });
}
