import { Fault } from '../../kit/errors.ts';
import type { Call, Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { CodeRequest, FederatedSession } from '../oauth/code-exchange.ts';
import { cookieName, flowLifeSeconds, type FlowProof } from '../oauth/flows.ts';
import { secondsLeft } from '../oauth/idp-tokens.ts';
import { refusedCode } from '../oauth/provider-client.ts';
import type { ProviderTokens } from '../oauth/provider-tokens.ts';
import type { AuthParts } from '../parts.ts';
import type { oauthRoutes } from '../schemas/oauth.ts';
import { readRefreshToken } from '../sessions/refresh-refusals.ts';
import { refreshOptionsOf, refreshTokens, requireGrantType, toTokens } from './token-answers.ts';

const bearer = 'Bearer' as const;
const cookiePath = '/api/v1/auth/oauth';
const groupsShownMax = 1_000;

type OAuthRoute =
  | 'oauthAuthorize'
  | 'oauthToken'
  | 'oauthIdpToken'
  | 'oauthRefresh'
  | 'oauthConfigure'
  | 'oauthProviders'
  | 'deleteOAuthProvider';

/** The edge of logins through identity providers. */
export function oauthHandlers(parts: AuthParts): Pick<Handlers<typeof authContract>, OAuthRoute> {
  const { oauth } = parts;
  return {
    oauthAuthorize: (call) => authorize(call, parts),
    oauthToken: async (call) => {
      const { grant_type: grantType } = call.body;
      if (grantType === 'refresh_token') return refreshPlainly(call, parts);
      requireGrantType(grantType, ['authorization_code', 'refresh_token']);
      const session = await oauth.codes.exchange(toCodeRequest(call));
      if (session.returnTo !== undefined) setCookie(call, parts, { ...session, value: '' });
      return toFederatedTokens(session);
    },
    oauthIdpToken: async ({ identity, origin }) =>
      toIdpToken(await oauth.ownIdpTokens(identity, origin)),
    oauthRefresh: async (call) => {
      const { grant_type: grantType, refresh_token: refreshToken, provider } = call.body;
      requireGrantType(grantType, ['refresh_token']);
      const claims = await readRefreshToken(refreshToken, { ...parts, origin: call.origin });
      const options = refreshOptionsOf(call);
      const { pair, tokens } = await oauth.refresh(claims, { ...options, provider });
      const { token_type: _type, created_at: _at, scope: _scope, ...idpToken } = toIdpToken(tokens);
      return { ...toTokens(pair), idp_token: idpToken };
    },
    ...administrationHandlers(parts),
  };
}

function administrationHandlers({ oauth }: AuthParts) {
  return {
    oauthConfigure: async ({ body, identity, origin }) => {
      const { provider, config } = body;
      const updatedAt = await oauth.providers.configure(provider, config, { identity, origin });
      return { provider, configured: true as const, updatedAt: updatedAt.toISOString() };
    },
    oauthProviders: async () => {
      const providers = await oauth.providers.list();
      return {
        providers: providers.map(({ name, config, updatedAt }) => ({
          provider: name,
          config,
          ...(updatedAt ? { updatedAt: updatedAt.toISOString() } : {}),
        })),
      };
    },
    deleteOAuthProvider: async ({ params, identity, origin }) => {
      await oauth.providers.delete(params.provider, { identity, origin });
      return { provider: params.provider, deleted: true };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

type AuthorizeCall = Call<typeof oauthRoutes.oauthAuthorize>;
type TokenCall = Call<typeof oauthRoutes.oauthToken>;

async function authorize(call: AuthorizeCall, parts: AuthParts) {
  const { query } = call;
  requireCodeFlow(query);
  const { location, cookie } = await parts.oauth.flows.begin({
    provider: query.provider,
    redirectUri: query.redirect_uri,
    state: query.state,
    scope: query.scope,
    clientId: query.client_id,
    challenge: query.code_challenge,
    nonce: query.nonce,
    returnTo: query.return_to,
  });
  if (cookie) call.setHeader('set-cookie', cookieText(parts, cookie));
  call.setHeader('location', location);
  call.setHeader('referrer-policy', 'no-referrer');
  return { location };
}

/** Throws `invalid_request` unless this is a code flow whose challenge, if any, is S256 (RFC 7636). */
function requireCodeFlow(query: AuthorizeCall['query']): void {
  const { response_type: type, code_challenge: challenge, code_challenge_method: method } = query;
  if (type !== undefined && type !== 'code') {
    throw new Fault('invalid', 'response_type must be code', {
      reason: 'unsupported_response_type',
    });
  }
  const isGiven = challenge !== undefined;
  const isWhole = isGiven ? /^[A-Za-z0-9_-]{43}$/.test(challenge) : true;
  // Without a method RFC 7636 means `plain`, which shows the verifier to whoever sees the address.
  const isS256 = method === 'S256' || (!isGiven && method === undefined);
  if (isWhole && isS256 && (isGiven || method === undefined)) return;
  throw new Fault('invalid', 'code_challenge must be S256: 43 characters of base64url', {
    reason: 'invalid_request',
  });
}

function toCodeRequest({ body, headers, origin }: TokenCall): CodeRequest {
  return {
    code: body.code,
    proof: proofOf(body, headers.cookie ?? ''),
    redirectUri: body.redirect_uri,
    clientId: body.client_id,
    state: body.state,
    issuer: body.iss,
    error: body.error,
    origin,
  };
}

function proofOf(
  { code_verifier: verifier, state }: TokenCall['body'],
  cookies: string,
): FlowProof | undefined {
  if (verifier !== undefined) {
    if (/^[\w.~-]{43,128}$/.test(verifier)) return { verifier };
    throw refusedCode('verifier_mismatch');
  }
  const binding = state === undefined ? undefined : readCookie(cookies, cookieName(state));
  return state === undefined || binding === undefined ? undefined : { state, binding };
}

function readCookie(header: string, name: string): string | undefined {
  const parts = header.split(';').map((part) => part.trim());
  return parts.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Replaces the cookie of a flow; an empty value removes it. */
function setCookie(
  call: Pick<Call, 'setHeader'>,
  parts: AuthParts,
  { state, value }: { readonly state: string; readonly value: string },
): void {
  call.setHeader('set-cookie', cookieText(parts, { name: cookieName(state), value }));
}

function cookieText(
  { oauth }: AuthParts,
  { name, value }: { readonly name: string; readonly value: string },
): string {
  const life = value === '' ? 0 : flowLifeSeconds;
  const secure = oauth.isEncrypted ? '; Secure' : '';
  return `${name}=${value}; Path=${cookiePath}; Max-Age=${life}; HttpOnly; SameSite=Lax${secure}`;
}

/** What `/refresh` does, for clients that know one token address alone. */
async function refreshPlainly(call: TokenCall, parts: AuthParts) {
  const { refresh_token: refreshToken, scope, client_id: clientId } = call.body;
  if (refreshToken === undefined) {
    throw new Fault('invalid', 'refresh_token is missing', { reason: 'invalid_request' });
  }
  const pair = await refreshTokens(call, { parts, refreshToken, scope, clientId });
  return { ...toTokens(pair), scope: pair.permissions.join(' ') };
}

function toFederatedTokens(session: FederatedSession) {
  const { pair, user, profile, groups, idToken, returnTo } = session;
  const { id, username, email, name, roles } = user;
  return {
    ...toTokens(pair),
    scope: pair.permissions.join(' '),
    ...(idToken === undefined ? {} : { id_token: idToken }),
    user: {
      id,
      username,
      email,
      name,
      avatar_url: profile.avatarUrl,
      ...(profile.numericId === undefined ? {} : { idp_id: profile.numericId }),
      roles,
      groups: groups.slice(0, groupsShownMax),
    },
    ...(returnTo === undefined ? {} : { return_to: returnTo }),
  };
}

function toIdpToken(tokens: ProviderTokens) {
  const { accessToken, refreshToken, scope, issuedAt } = tokens;
  const expiresIn = secondsLeft(tokens);
  return {
    access_token: accessToken,
    token_type: bearer,
    ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    created_at: Math.floor(issuedAt.getTime() / 1000),
    scope,
  };
}
