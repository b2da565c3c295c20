import type { Handlers } from '../../kit/http/call.ts';
import { findUser } from '../accounts/user-store.ts';
import { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';

/** The edge of what standard clients and resource servers ask for. */
export function metadataHandlers({ host, sql, introspection }: AuthParts) {
  const metadata = describeServer(host.url);
  return {
    serverMetadata: () => metadata,
    openidConfiguration: () => metadata,
    userInfo: async ({ identity }) => {
      const { subject: sub, kind, name, email, roles, permissions } = identity;
      const user = kind === 'user' ? await findUser(sql, sub) : undefined;
      return {
        sub,
        ...(name === undefined ? {} : { name }),
        ...(email === undefined ? {} : { email }),
        ...(user ? { preferred_username: user.username } : {}),
        roles: [...roles],
        permissions: [...permissions],
      };
    },
    introspect: async ({ body }) => {
      const answer = await introspection.introspect(body.token);
      if (!answer.active) return { active: false };
      const { aud, roles, permissions } = answer;
      return { ...answer, aud: [...aud], roles: [...roles], permissions: [...permissions] };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

/** RFC 8414, section 2; built on the configured address alone, never on what a request names. */
function describeServer(issuer: string) {
  const at = (path: string) => `${issuer.replace(/\/$/, '')}${path}`;
  const { authorize, exchange, jwks, revoke, introspect, userInfo } = addresses();
  return {
    issuer,
    authorization_endpoint: at(authorize),
    token_endpoint: at(exchange),
    jwks_uri: at(jwks),
    revocation_endpoint: at(revoke),
    introspection_endpoint: at(introspect),
    userinfo_endpoint: at(userInfo),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    // An access token as for every other route: RFC 8414 allows its type in place of a method.
    revocation_endpoint_auth_methods_supported: ['Bearer'],
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    scopes_supported: ['openid', 'profile', 'email', 'read_user'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce'],
  };
}

function addresses() {
  const { jwks, revoke, introspect, userInfo } = authContract.routes;
  return {
    authorize: '/api/v1/auth/oauth/authorize',
    exchange: '/api/v1/auth/oauth/token',
    jwks: jwks.url,
    revoke: revoke.url,
    introspect: introspect.url,
    userInfo: userInfo.url,
  };
}
