import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { bearerTokenOf } from '../../kit/http/credential.ts';
import { endedSessionCookie, sessionCookie } from '../../kit/http/session-cookie.ts';
import { invalidToken } from '../../kit/identity/claims.ts';
import type { Authenticator } from '../../kit/identity/authenticator.ts';
import type { sessionRoutes as routes } from '../schemas/session.ts';

type SessionHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface SessionHandlerParts {
  readonly authenticator: Pick<Authenticator, 'identify'>;
  /** Where browsers reach the service. */
  readonly url: string;
}

/** Browsers drop larger cookies without a word (RFC 6265, section 6.1). */
const tokenLengthMax = 4_000;

/** The edge of browsers' sessions. */
export function sessionHandlers({ authenticator, url }: SessionHandlerParts): SessionHandlers {
  const isSecure = url.startsWith('https:');
  return {
    openSession: async (call) => {
      const token = call.body.token ?? bearerOf(call.headers.authorization);
      // A key does not expire, so a browser would keep it as long as it likes.
      if (token.startsWith('enn_')) throw wrongToken('a session takes an access token, no API key');
      if (!token.includes('.')) throw invalidToken('this is no access token');
      if (token.length > tokenLengthMax) throw wrongToken('the token does not fit in a cookie');
      const { expiresAt } = await authenticator.identify(token);
      const maxAgeSeconds = Math.max(0, Math.floor(expiresAt - Date.now() / 1000));
      call.setHeader('set-cookie', sessionCookie(token, { maxAgeSeconds, isSecure }));
      call.setHeader('cache-control', 'no-store');
      return { success: true, expires_at: new Date(expiresAt * 1000).toISOString() };
    },
    closeSession: (call) => {
      call.setHeader('set-cookie', endedSessionCookie(isSecure));
      return { success: true };
    },
  };
}

function bearerOf(authorization: string | undefined): string {
  const token = bearerTokenOf(authorization ?? '');
  if (token !== undefined) return token;
  throw invalidToken('a token is needed: in the body or behind Bearer', 'token_missing');
}

function wrongToken(message: string): Fault {
  return new Fault('invalid', message, { reason: 'token_unsuitable' });
}
