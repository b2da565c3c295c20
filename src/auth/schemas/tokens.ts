import { Type } from 'typebox';

/** Longer texts are no tokens of ours; a verifier refuses them anyway. */
const token = Type.String({ maxLength: 32_768 });
const clientId = Type.String({ minLength: 1, maxLength: 256 });

const issued = {
  access_token: Type.String({ description: 'JWT signed with RS256' }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'seconds' }),
};
const refreshToken = Type.String({
  description: 'JWT (HS256) that auth alone can check, good once',
});

export const loginMethods = Type.Object(
  {
    password: Type.Boolean({ description: 'whether `POST /api/v1/auth/login` takes a password' }),
    providers: Type.Array(Type.String(), {
      description: 'the names of the identity providers, as `authorize` takes them',
    }),
  },
  { $id: 'LoginMethods' },
);

export const passwordLogin = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 1024 }),
    password: Type.String({ minLength: 1 }),
    client_id: clientId,
    grant_type: Type.String({ description: '`password`' }),
    otp: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'second factor, for users who have one: six digits, or a recovery code',
      }),
    ),
  },
  { $id: 'PasswordLogin' },
);

export const tokenAnswer = Type.Object(
  {
    ...issued,
    refresh_token: refreshToken,
    scope: Type.String({ description: 'the permissions, separated by spaces' }),
  },
  { $id: 'TokenAnswer' },
);

export const apiKeyLogin = Type.Object(
  { api_key: Type.String({ minLength: 1, maxLength: 512 }), client_id: clientId },
  { $id: 'ApiKeyLogin' },
);

export const apiKeyToken = Type.Object(
  { ...issued, service: Type.String(), permissions: Type.Array(Type.String()) },
  { $id: 'ApiKeyToken' },
);

export const refreshRequest = Type.Object(
  {
    refresh_token: token,
    grant_type: Type.String({ description: '`refresh_token`' }),
    scope: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: 'narrows this access token to some of the permissions (RFC 6749, section 6)',
      }),
    ),
  },
  { $id: 'RefreshRequest' },
);

export const refreshedToken = Type.Object(
  { ...issued, refresh_token: refreshToken },
  { $id: 'RefreshedToken' },
);

export const revocationRequest = Type.Object(
  {
    token,
    token_type_hint: Type.Optional(
      Type.String({ description: '`access_token` or `refresh_token`; the token itself decides' }),
    ),
  },
  { $id: 'RevocationRequest' },
);

export const revocationAnswer = Type.Object(
  {
    revoked: Type.Boolean({
      description: 'false for what had expired by itself, or is no token of this suite',
    }),
    jti: Type.Optional(Type.String()),
    revokedAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'when it was revoked the first time' }),
    ),
  },
  { $id: 'RevocationAnswer' },
);

export const validationRequest = Type.Object({ token }, { $id: 'ValidationRequest' });

export const validationAnswer = Type.Object(
  {
    valid: Type.Boolean(),
    payload: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'the claims of a valid token' }),
    ),
    error: Type.Optional(
      Type.String({ description: '`token_expired`, `token_revoked` or `token_invalid`' }),
    ),
    message: Type.Optional(Type.String()),
  },
  { $id: 'ValidationAnswer' },
);

export const keySet = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal('RSA'),
        kid: Type.String(),
        use: Type.Literal('sig'),
        alg: Type.Literal('RS256'),
        n: Type.String(),
        e: Type.String(),
      }),
    ),
  },
  { $id: 'KeySet' },
);
