import { Fault } from '../../kit/errors.ts';
import type { Call, Handlers } from '../../kit/http/call.ts';
import { addressKey, type AttemptLimit } from '../limits/attempt-limits.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import type { TokenPair } from '../sessions/sessions.ts';
import { accessLifeSeconds } from '../tokens/tokens.ts';
import { usernameKey } from '../accounts/usernames.ts';

const bearer = 'Bearer' as const;
const keysMaxAgeSeconds = 300;

type TokenRoute = 'login' | 'apiKey' | 'refresh' | 'revoke' | 'validate' | 'jwks';

/** The edge of all that makes, ends and checks tokens. */
export function tokenRoutes(parts: AuthParts): Pick<Handlers<typeof authContract>, TokenRoute> {
  const { config, limits, passwordLogin, apiKeyLogin, sessions, mint } = parts;
  const { tokenRevocation, validation, keyring } = parts;
  return {
    login: async (call) => {
      const { username, password, client_id: clientId, grant_type } = call.body;
      requireGrantType(grant_type, 'password');
      requirePasswordLogin(config.passwordLogin);
      spend(call, [
        [limits.loginByAddress, addressKey(call.origin.ip)],
        [limits.loginByUsername, usernameKey(username)],
      ]);
      const { origin } = call;
      const pair = await passwordLogin.login({ username, password, clientId, origin });
      return { ...toTokens(pair), scope: pair.permissions.join(' ') };
    },
    apiKey: async ({ body, origin }) => {
      const { api_key: apiKey, client_id: clientId } = body;
      const token = await apiKeyLogin.exchange({ apiKey, clientId, origin });
      return {
        access_token: token.accessToken,
        token_type: bearer,
        expires_in: token.expiresInSeconds,
        service: token.service,
        permissions: [...token.permissions],
      };
    },
    refresh: async (call) => {
      const { refresh_token, grant_type, scope } = call.body;
      requireGrantType(grant_type, 'refresh_token');
      const claims = await mint.readRefresh(refresh_token);
      spend(call, [[limits.refreshBySession, claims.sessionId]]);
      return toTokens(await sessions.refresh(claims, { scope, origin: call.origin }));
    },
    revoke: async ({ body, identity, origin }) => {
      const { isRevoked, tokenId } = await tokenRevocation.revoke(body.token, { identity, origin });
      if (tokenId === undefined) return { revoked: isRevoked };
      return { revoked: isRevoked, jti: tokenId, revokedAt: new Date().toISOString() };
    },
    validate: (call) => {
      spend(call, [[limits.validationByAddress, addressKey(call.origin.ip)]]);
      return validation.validate(call.body.token);
    },
    jwks: (call) => {
      call.setHeader('cache-control', `public, max-age=${keysMaxAgeSeconds}`);
      call.setHeader('etag', keyring.etag);
      if (call.headers['if-none-match'] === keyring.etag) call.setStatus(304);
      return { keys: [...keyring.keys] };
    },
  };
}

function toTokens({ accessToken, refreshToken }: TokenPair) {
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: bearer,
    expires_in: accessLifeSeconds,
  };
}

/** Throws `unsupported_grant_type` (RFC 6749, section 5.2) for another grant than the route's own. */
function requireGrantType(given: string, wanted: string): void {
  if (given === wanted) return;
  throw new Fault('invalid', `grant_type must be ${wanted}`, {
    reason: 'unsupported_grant_type',
    detail: { supported: [wanted] },
  });
}

function requirePasswordLogin(setting: 'on' | 'off'): void {
  if (setting === 'on') return;
  throw new Fault('invalid', 'the login with a password is turned off here', {
    reason: 'unsupported_grant_type',
    detail: { supported: [] },
  });
}

/** Takes an attempt of each limit; the headers show the one that is nearest. A refusal takes no more. */
function spend(
  call: Pick<Call, 'setHeader'>,
  buckets: readonly (readonly [limit: AttemptLimit, key: string])[],
): void {
  let remaining = Number.POSITIVE_INFINITY;
  for (const [limit, key] of buckets) {
    const allowance = limit.take(key);
    if (allowance.remaining < remaining) {
      remaining = allowance.remaining;
      call.setHeader('x-ratelimit-limit', String(allowance.limit));
      call.setHeader('x-ratelimit-remaining', String(allowance.remaining));
      call.setHeader('x-ratelimit-reset', String(allowance.resetAt));
    }
    if (!allowance.isAllowed) throw limit.refusal(allowance);
  }
}
