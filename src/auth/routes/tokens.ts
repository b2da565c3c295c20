import { Fault } from '../../kit/errors.ts';
import type { Call, Handlers } from '../../kit/http/call.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import { addressKey } from '../limits/attempt-limits.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import type { TokenPair } from '../sessions/sessions.ts';
import { accessLifeSeconds } from '../tokens/tokens.ts';

const bearer = 'Bearer' as const;

type TokenRoute = 'login' | 'apiKey' | 'refresh' | 'revoke' | 'validate';

/** The edge of all that makes, ends and checks tokens. */
export function tokenRoutes(parts: AuthParts): Pick<Handlers<typeof authContract>, TokenRoute> {
  const { config, limits, passwordLogin, apiKeyLogin, sessions, mint } = parts;
  const { tokenRevocation, validation } = parts;
  return {
    login: async (call) => {
      const { username, password, otp, client_id: clientId, grant_type } = call.body;
      requireGrantType(grant_type, 'password');
      requirePasswordLogin(config.passwordLogin);
      const { origin, signal } = call;
      const attempt = { username, password, otp, clientId, origin, signal };
      const candidate = await passwordLogin.find(attempt);
      const { allowance, refusal } = await limits.login.take(candidate.source);
      showAllowance(call, allowance);
      if (refusal) throw refusal;
      const pair = await passwordLogin.login(candidate);
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
      const allowance = await limits.refreshBySession.take(claims.sessionId);
      showAllowance(call, allowance);
      if (!allowance.isAllowed) throw limits.refreshBySession.refusal(allowance);
      return toTokens(await sessions.refresh(claims, { scope, origin: call.origin }));
    },
    revoke: async ({ body, identity, origin }) => {
      const { isRevoked, tokenId } = await tokenRevocation.revoke(body.token, { identity, origin });
      if (tokenId === undefined) return { revoked: isRevoked };
      return { revoked: isRevoked, jti: tokenId, revokedAt: new Date().toISOString() };
    },
    validate: (call) => {
      const limit = limits.validationByAddress;
      const validate = (allowance: Allowance) => {
        showAllowance(call, allowance);
        if (!allowance.isAllowed) throw limit.refusal(allowance);
        return validation.validate(call.body.token);
      };
      const allowance = limit.take(addressKey(call.origin.ip));
      return allowance instanceof Promise ? allowance.then(validate) : validate(allowance);
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

/** How near the caller is to the limit, allowed or not. */
function showAllowance(call: Pick<Call, 'setHeader'>, allowance: Allowance): void {
  call.setHeader('x-ratelimit-limit', String(allowance.limit));
  call.setHeader('x-ratelimit-remaining', String(allowance.remaining));
  call.setHeader('x-ratelimit-reset', String(allowance.resetAt));
}
