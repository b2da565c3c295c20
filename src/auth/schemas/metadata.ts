import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const texts = Type.Array(Type.String());
const url = Type.String({ format: 'uri' });

const serverMetadata = Type.Object(
  {
    issuer: url,
    authorization_endpoint: url,
    token_endpoint: url,
    jwks_uri: url,
    revocation_endpoint: url,
    introspection_endpoint: url,
    userinfo_endpoint: url,
    response_types_supported: texts,
    response_modes_supported: texts,
    grant_types_supported: texts,
    code_challenge_methods_supported: texts,
    token_endpoint_auth_methods_supported: texts,
    revocation_endpoint_auth_methods_supported: texts,
    introspection_endpoint_auth_methods_supported: texts,
    scopes_supported: texts,
    subject_types_supported: texts,
    id_token_signing_alg_values_supported: texts,
    claims_supported: texts,
  },
  { $id: 'ServerMetadata' },
);

const userInfo = Type.Object(
  {
    sub: Type.String(),
    name: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
    preferred_username: Type.Optional(Type.String()),
    roles: texts,
    permissions: texts,
  },
  { $id: 'UserInfo' },
);

const introspectionRequest = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 32_768 }),
    token_type_hint: Type.Optional(
      Type.String({ description: '`access_token` or `refresh_token`; the token itself decides' }),
    ),
  },
  { $id: 'IntrospectionRequest' },
);

const introspectionAnswer = Type.Object(
  {
    active: Type.Boolean({ description: 'false stands alone' }),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    username: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.Literal('Bearer')),
    exp: Type.Optional(Type.Integer()),
    iat: Type.Optional(Type.Integer()),
    nbf: Type.Optional(Type.Integer()),
    sub: Type.Optional(Type.String()),
    aud: Type.Optional(texts),
    iss: Type.Optional(Type.String()),
    jti: Type.Optional(Type.String()),
    roles: Type.Optional(texts),
    permissions: Type.Optional(texts),
  },
  { $id: 'IntrospectionAnswer' },
);

const metadata = {
  method: 'GET',
  auth: 'none',
  rateLimit: 'none',
  trace: 'none',
  schema: { response: { 200: serverMetadata } },
} as const;

/** What standard clients and resource servers ask for. */
export const metadataRoutes = {
  serverMetadata: {
    ...metadata,
    url: '/.well-known/oauth-authorization-server',
    summary: 'Where everything is, for OAuth clients (RFC 8414)',
  },
  openidConfiguration: {
    ...metadata,
    url: '/.well-known/openid-configuration',
    summary: 'The same document under the name that OpenID Connect gives it',
  },
  userInfo: {
    method: 'GET',
    url: '/api/v1/auth/userinfo',
    summary: 'Say who you are and what you may do',
    schema: { response: { 200: userInfo } },
  },
  introspect: {
    method: 'POST',
    url: '/api/v1/auth/introspect',
    summary: 'Say what a token stands for at this moment (RFC 7662)',
    description:
      'For access tokens and refresh tokens. Of whatever is not good, only that is said; 200 in both cases.',
    acceptsForm: true,
    schema: { body: introspectionRequest, response: { 200: introspectionAnswer } },
  },
} as const satisfies Record<string, Route>;
