import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const writing = 'registry:write';
const connectionPath = '/connections/:connectionId';

const params = Type.Object({
  connectionId: Type.String({
    maxLength: 64,
    pattern: '^[\\w-]+$',
    description: 'the id of a connection',
  }),
});

const printable = '^[\\x20-\\x7e]+$';
const digest = Type.String({ description: 'SHA-256 in base64url' });

/** The routes of what servers ask of the registry, and of what the registry agreed to at servers. */
export const authorizationRoutes = {
  authorizeConnection: {
    method: 'POST',
    url: `${connectionPath}/authorize`,
    summary: 'Let the registry call a server that requires authorization',
    description:
      'OAuth 2.1 as MCP has it: the server is asked where its authorization server is (RFC 9728), the registry registers there as a client unless one is given or it is registered already, and the answer says where somebody has to log in (PKCE, ten minutes). With the grant `client_credentials` nobody has to. An authorization server that does not say that it supports PKCE with S256 is not logged in at (502 `PKCE_UNSUPPORTED`). Tokens are kept sealed with the address for which they were issued, renewed when they end, shown to no other address, and removed when it changes; when it changes meanwhile, they are not kept (409 `ADDRESS_CHANGED`).',
    permission: writing,
    schema: {
      params,
      body: Type.Object({
        scope: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, pattern: printable })),
        clientId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1000,
            pattern: printable,
            description: 'the id of a client that the authorization server knows already',
          }),
        ),
        clientSecret: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1000,
            pattern: printable,
            description: 'of the client: without `clientId` the answer is 400 `CLIENT_ID_NEEDED`',
          }),
        ),
        issuer: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 2048,
            pattern: printable,
            description:
              'the authorization server that knows the client: no other gets its secret, and where the server names another the answer is 400 `ISSUER_MISMATCH`',
          }),
        ),
        grant: Type.Optional(Type.Enum(['authorization_code', 'client_credentials'])),
      }),
      response: {
        200: Type.Object({
          connectionId: Type.String(),
          authorizationUrl: Type.Optional(
            Type.String({ description: 'where somebody has to log in' }),
          ),
          authorized: Type.Boolean({ description: 'whether it is done' }),
        }),
      },
    },
  },
  finishAuthorization: {
    method: 'GET',
    url: '/oauth/callback',
    summary: 'Take the answer of an authorization server, through the browser of who logged in',
    description: 'Answers a small page. The state is a secret that works once.',
    auth: 'none',
    schema: {
      query: Type.Object({
        state: Type.Optional(
          Type.String({
            maxLength: 200,
            description: 'names the login that it ends; an answer without ends none',
          }),
        ),
        code: Type.Optional(
          Type.String({ maxLength: 4096, description: 'to be exchanged for tokens' }),
        ),
        iss: Type.Optional(Type.String({ maxLength: 2048, description: 'who answers (RFC 9207)' })),
        error: Type.Optional(Type.String({ maxLength: 200, description: 'why there is no code' })),
        error_description: Type.Optional(
          Type.String({ maxLength: 2048, description: 'the same in words' }),
        ),
        error_uri: Type.Optional(
          Type.String({ maxLength: 2048, description: 'where more is said of it' }),
        ),
      }),
      response: { 200: Type.String({ contentMediaType: 'text/plain' }) },
    },
  },
  removeAuthorization: {
    method: 'DELETE',
    url: `${connectionPath}/authorization`,
    summary: 'Forget the tokens for a server, and the client that was registered there',
    permission: writing,
    schema: {
      params,
      response: {
        200: Type.Object({
          connectionId: Type.String(),
          removed: Type.Boolean({ description: 'false when there were none' }),
        }),
      },
    },
  },
  readDrift: {
    method: 'GET',
    url: `${connectionPath}/drift`,
    summary: 'Read which tools of a server are not what was agreed to',
    description:
      'A tool is pinned when it is first seen: a digest of its name, description and schemas. A server that changes one later may mean something else with it.',
    schema: {
      params,
      response: {
        200: Type.Object({
          connectionId: Type.String(),
          pinnedAt: Type.Optional(Type.String()),
          tools: Type.Array(
            Type.Object({
              name: Type.String(),
              change: Type.Enum(['changed', 'added', 'removed']),
              pinned: Type.Optional(digest),
              current: Type.Optional(digest),
              quarantined: Type.Boolean({ description: 'whether calls of it are refused' }),
            }),
          ),
        }),
      },
    },
  },
  acceptTools: {
    method: 'POST',
    url: `${connectionPath}/accept-tools`,
    summary: 'Agree to the tools of a server as they are now',
    permission: writing,
    schema: {
      params,
      body: Type.Object({
        tools: Type.Optional(
          Type.Array(Type.String({ maxLength: 256 }), {
            maxItems: 1000,
            description: 'these alone; all when it is left out',
          }),
        ),
      }),
      response: {
        200: Type.Object({
          connectionId: Type.String(),
          accepted: Type.Array(Type.String()),
        }),
      },
    },
  },
} as const satisfies Record<string, Route>;
