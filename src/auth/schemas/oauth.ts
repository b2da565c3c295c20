import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const api = '/api/v1/auth/oauth';
const administration = 'auth:admin';
const url = Type.String({ minLength: 1, maxLength: 2048 });
const token = Type.String({ maxLength: 32_768 });
const plainText = '^[\\x20-\\x7E]*$';
const scope = Type.String({ maxLength: 1024, pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E ]*$' });
const clientId = Type.String({ minLength: 1, maxLength: 256, pattern: plainText });
const providerName = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
  description: 'up to 64 lower-case letters, digits and hyphens, no hyphen first',
});
const bearer = Type.Literal('Bearer');

const issued = {
  access_token: Type.String({ description: 'JWT signed with RS256' }),
  refresh_token: Type.String({ description: 'JWT (HS256) that auth alone can check, good once' }),
  token_type: bearer,
  expires_in: Type.Integer({ description: 'seconds' }),
};

const idpTokenLife = Type.Integer({
  description: 'seconds; absent when the provider names no end',
});

const group = Type.Object({
  id: Type.Optional(Type.Integer()),
  name: Type.String({ description: 'the whole path' }),
  role: Type.Optional(Type.String({ description: 'absent when no mapping names the group' })),
});

const federatedUser = Type.Object({
  id: Type.String(),
  username: Type.String(),
  email: Type.String(),
  name: Type.String(),
  avatar_url: Type.String({ description: 'empty when there is none' }),
  idp_id: Type.Optional(Type.Integer({ description: "the provider's own number of the user" })),
  roles: Type.Array(Type.String()),
  groups: Type.Array(group, { description: 'at most 1,000; roles come from all' }),
});

const providerFields = {
  authorizationURL: url,
  tokenURL: url,
  userInfoURL: url,
  clientID: Type.String({ minLength: 1, maxLength: 512 }),
  callbackURL: url,
  issuer: Type.Optional(url),
  jwksURL: Type.Optional(url),
  groupsURL: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'where groups are read that userinfo does not claim, page by page; of GitLab `/api/v4/groups`, asked for those that the user is a member of',
    }),
  ),
  scopes: Type.Optional(scope),
};

const redirection = Type.Object({ location: Type.String({ description: 'as in the header' }) });

/** The routes of logins through identity providers. */
export const oauthRoutes = {
  oauthAuthorize: {
    method: 'GET',
    url: `${api}/authorize`,
    summary: 'Send the browser to an identity provider',
    description:
      'With `code_challenge` (S256) the caller keeps the verifier. Without it the service keeps one and sets a cookie; the exchange then takes `state` in place of `code_verifier`.',
    auth: 'none',
    schema: {
      query: Type.Object({
        provider: Type.Optional(
          Type.String({
            maxLength: 64,
            description: 'the name of an external provider to log in at',
          }),
        ),
        redirect_uri: Type.Optional({ ...url, description: 'where the answer goes' }),
        state: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1024,
            description: 'comes back with the answer (RFC 6749, 4.1.1)',
          }),
        ),
        scope: Type.Optional({
          ...scope,
          description: 'separated by spaces; `openid` for an ID token',
        }),
        client_id: Type.Optional({ ...clientId, description: 'who asks' }),
        response_type: Type.Optional(Type.String({ maxLength: 64, description: '`code`' })),
        code_challenge: Type.Optional(
          Type.String({
            maxLength: 256,
            description: 'the hash of a verifier that the caller keeps (RFC 7636)',
          }),
        ),
        code_challenge_method: Type.Optional(Type.String({ maxLength: 64, description: '`S256`' })),
        return_to: Type.Optional(
          Type.String({
            maxLength: 2048,
            description:
              'a path on the own origin, which the exchange answers again; kept without `code_challenge` alone, as who keeps a verifier keeps the path too',
          }),
        ),
        nonce: Type.Optional(
          Type.String({ minLength: 1, maxLength: 256, description: 'comes back in the ID token' }),
        ),
      }),
      response: { 302: redirection },
    },
  },
  oauthToken: {
    method: 'POST',
    url: `${api}/token`,
    summary: 'Trade an authorization code, or a refresh token, for tokens',
    description:
      'A code is good once, for 10 minutes; a use after the first was answered revokes its session. `state` goes with the cookie of `authorize`. A wrong code does not end the login; five may be tried.',
    auth: 'none',
    acceptsForm: true,
    schema: {
      body: Type.Object(
        {
          grant_type: Type.String({ description: '`authorization_code` or `refresh_token`' }),
          code: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
          redirect_uri: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 2048,
              description: 'needed, and the same, where `authorize` was given one',
            }),
          ),
          client_id: Type.Optional(clientId),
          code_verifier: Type.Optional(
            Type.String({ maxLength: 256, description: '43 to 128 characters (RFC 7636)' }),
          ),
          state: Type.Optional(Type.String({ maxLength: 1024 })),
          iss: Type.Optional(Type.String({ maxLength: 2048, description: 'RFC 9207' })),
          error: Type.Optional(Type.String({ maxLength: 256 })),
          refresh_token: Type.Optional(token),
          scope: Type.Optional(scope),
        },
        { $id: 'CodeExchange' },
      ),
      response: {
        200: Type.Object(
          {
            ...issued,
            scope: Type.String({ description: 'the permissions, separated by spaces' }),
            id_token: Type.Optional(
              Type.String({
                description: 'where `authorize` was given the scope `openid`; repeats its `nonce`',
              }),
            ),
            user: Type.Optional(federatedUser),
            return_to: Type.Optional(Type.String({ description: 'a path on the own origin' })),
          },
          { $id: 'FederatedTokens' },
        ),
      },
    },
  },
  oauthIdpToken: {
    method: 'GET',
    url: `${api}/idp-token`,
    summary: "Read the identity provider's own token of your login",
    description:
      'Refreshed at the provider when it has less than five minutes left, or half its life.',
    schema: {
      response: {
        200: Type.Object(
          {
            access_token: Type.String(),
            token_type: bearer,
            expires_in: Type.Optional(idpTokenLife),
            refresh_token: Type.Optional(
              Type.String({ description: 'absent when the provider gave none' }),
            ),
            created_at: Type.Integer({ description: 'Unix seconds' }),
            scope: Type.String(),
          },
          { $id: 'IdpToken' },
        ),
      },
    },
  },
  oauthRefresh: {
    method: 'POST',
    url: `${api}/refresh`,
    summary: "Refresh a login and the identity provider's token with it",
    description:
      'The provider is asked for its next token, once for all who ask at the same time. Roles that the groups at the provider no longer give are gone then. A refusal takes no refresh token: with 502 try again, with `idp_login_required` log in again.',
    auth: 'none',
    rateLimit: 'none',
    schema: {
      body: Type.Object(
        {
          grant_type: Type.String({ description: '`refresh_token`' }),
          refresh_token: token,
          provider: Type.String({ maxLength: 64 }),
        },
        { $id: 'OAuthRefresh' },
      ),
      response: {
        200: Type.Object(
          {
            ...issued,
            idp_token: Type.Object({
              access_token: Type.String(),
              refresh_token: Type.Optional(
                Type.String({ description: 'absent when the provider gave none' }),
              ),
              expires_in: Type.Optional(idpTokenLife),
            }),
          },
          { $id: 'OAuthRefreshed' },
        ),
      },
    },
  },
  oauthConfigure: {
    method: 'POST',
    url: `${api}/configure`,
    summary: 'Put an identity provider in force',
    description:
      'Needs all that the group mappings give. With `issuer`, its metadata must name the same one and id_tokens are checked.',
    permission: administration,
    schema: {
      body: Type.Object(
        {
          provider: providerName,
          config: Type.Object({
            ...providerFields,
            clientSecret: Type.String({ minLength: 1, maxLength: 1024 }),
          }),
        },
        { $id: 'ProviderConfiguration' },
      ),
      response: {
        200: Type.Object({
          provider: Type.String(),
          configured: Type.Literal(true),
          updatedAt: Type.String({ format: 'date-time' }),
        }),
      },
    },
  },
  oauthProviders: {
    method: 'GET',
    url: `${api}/providers`,
    summary: 'List the identity providers, without their secrets',
    permission: administration,
    schema: {
      response: {
        200: Type.Object({
          providers: Type.Array(
            Type.Object({
              provider: Type.String(),
              config: Type.Object(providerFields),
              updatedAt: Type.Optional(Type.String({ format: 'date-time' })),
            }),
          ),
        }),
      },
    },
  },
  deleteOAuthProvider: {
    method: 'DELETE',
    url: `${api}/providers/:provider`,
    summary: 'Take an identity provider out of force',
    description:
      'Its users have no groups from their next refresh until they log in again. `idp` falls back to what the environment says.',
    permission: administration,
    schema: {
      params: Type.Object({
        provider: Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'the name of an external provider',
        }),
      }),
      response: { 200: Type.Object({ provider: Type.String(), deleted: Type.Boolean() }) },
    },
  },
} as const satisfies Record<string, Route>;
