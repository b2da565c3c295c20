import { Fault } from '../../kit/errors.ts';
import type { Handlers } from '../../kit/http/call.ts';
import { readOrigin } from '../../kit/http/vouching.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import { addressKey } from '../limits/attempt-limits.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import { refreshTokens, requireGrantType, showAllowance, toTokens } from './token-answers.ts';

const bearer = 'Bearer' as const;

type TokenRoute = 'login' | 'loginMethods' | 'apiKey' | 'refresh' | 'revoke' | 'validate';

/** The edge of all that makes, ends and checks tokens. */
export function tokenHandlers(parts: AuthParts): Pick<Handlers<typeof authContract>, TokenRoute> {
  const { config, limits, oauth, passwordLogin, apiKeyLogin, verifier } = parts;
  const { tokenRevocation, validation } = parts;
  return {
    login: async (call) => {
      const { username, password, otp, client_id: clientId, grant_type } = call.body;
      requireGrantType(grant_type, ['password']);
      requirePasswordLogin(config.passwordLogin);
      const origin = await readOrigin(call, (token) => verifier.verify(token));
      const attempt = { username, password, otp, clientId, origin, signal: call.signal };
      const { candidate, allowance, refusal } = await passwordLogin.begin(attempt);
      showAllowance(call, allowance);
      if (refusal) throw refusal;
      const pair = await passwordLogin.login(candidate);
      return { ...toTokens(pair), scope: pair.permissions.join(' ') };
    },
    loginMethods: async () => ({
      password: config.passwordLogin === 'on',
      providers: (await oauth.providers.list()).map(({ name }) => name),
    }),
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
      requireGrantType(grant_type, ['refresh_token']);
      return toTokens(await refreshTokens(call, { parts, refreshToken: refresh_token, scope }));
    },
    revoke: async ({ body, identity, origin }) => {
      const { isRevoked, tokenId, revokedAt } = await tokenRevocation.revoke(body.token, {
        identity,
        origin,
      });
      return {
        revoked: isRevoked,
        ...(tokenId === undefined ? {} : { jti: tokenId }),
        ...(revokedAt === undefined ? {} : { revokedAt: revokedAt.toISOString() }),
      };
    },
    validate: (call) => {
      const limit = limits.validationByAddress;
      const validate = (allowance: Allowance) => {
        showAllowance(call, allowance);
        if (!allowance.isAllowed) throw limit.refusal(allowance);
        return validation.validate(call.body.token, call.origin);
      };
      const allowance = limit.take(addressKey(call.origin.ip));
      return allowance instanceof Promise ? allowance.then(validate) : validate(allowance);
    },
  };
}

function requirePasswordLogin(setting: 'on' | 'off'): void {
  if (setting === 'on') return;
  throw new Fault('invalid', 'the login with a password is turned off here', {
    reason: 'unsupported_grant_type',
    detail: { supported: [] },
  });
}
