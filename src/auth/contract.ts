import { Type } from 'typebox';
import { healthRoute, type Contract, type Route } from '../kit/contract.ts';
import { peerPermission } from '../kit/permissions.ts';
import { pageAnswer, pageQuery } from '../kit/paging.ts';
import { authEnvelope } from './envelope.ts';
import {
  apiKeyAnswer,
  apiKeyFields,
  idParams,
  newApiKey,
  newUser,
  revocation,
  userChanges,
  userFields,
  userPage,
} from './schemas/administration.ts';
import { auditRoutes } from './schemas/audit.ts';
import { keyRoutes } from './schemas/keys.ts';
import { metadataRoutes } from './schemas/metadata.ts';
import { oauthRoutes } from './schemas/oauth.ts';
import { roleRoutes } from './schemas/roles.ts';
import { secondFactorRoutes } from './schemas/second-factor.ts';
import { sessionRoutes } from './schemas/sessions.ts';
import {
  apiKeyLogin,
  apiKeyToken,
  keySet,
  loginMethods,
  passwordLogin,
  refreshedToken,
  refreshRequest,
  revocationAnswer,
  revocationRequest,
  tokenAnswer,
  validationAnswer,
  validationRequest,
} from './schemas/tokens.ts';

const api = '/api/v1/auth';
const administration = 'auth:admin';
/** What a service needs that makes keys for those that it runs. */
const delegable = [administration, 'auth:delegate'];

const tokenRoutes = {
  login: {
    method: 'POST',
    url: `${api}/login`,
    summary: 'Log in with a password',
    description:
      'The form of first-party clients, not an OAuth grant. 10 attempts in 15 minutes, failed or not: of one account from one address. 50 of one account from all addresses that are new to it, and 100 of one address.',
    auth: 'none',
    rateLimit: 'none',
    schema: { body: passwordLogin, response: { 200: tokenAnswer } },
  },
  loginMethods: {
    method: 'GET',
    url: `${api}/login-methods`,
    summary: 'Say how users may log in, for pages that offer it',
    auth: 'none',
    schema: { response: { 200: loginMethods } },
  },
  apiKey: {
    method: 'POST',
    url: `${api}/api-key`,
    summary: 'Trade an API key for an access token',
    auth: 'none',
    schema: { body: apiKeyLogin, response: { 200: apiKeyToken } },
  },
  refresh: {
    method: 'POST',
    url: `${api}/refresh`,
    summary: 'Trade a refresh token for the next pair of tokens',
    description:
      'Each refresh token is good once. Within 10 seconds it answers the same successor again, unless that was used; later use revokes the session.',
    auth: 'none',
    rateLimit: 'none',
    acceptsForm: true,
    schema: { body: refreshRequest, response: { 200: refreshedToken } },
  },
  revoke: {
    method: 'POST',
    url: `${api}/revoke`,
    summary: 'Revoke a token of your own, or any with `auth:admin`',
    description:
      'An access token ends alone, a refresh token ends its whole session (RFC 7009). An unknown or expired token is no error.',
    acceptsForm: true,
    schema: { body: revocationRequest, response: { 200: revocationAnswer } },
  },
  validate: {
    method: 'POST',
    url: `${api}/validate`,
    summary: 'Say whether an access token is good, and what it states',
    auth: 'none',
    rateLimit: 'none',
    trace: 'none',
    isDirect: true,
    schema: { body: validationRequest, response: { 200: validationAnswer } },
  },
  jwks: {
    method: 'GET',
    url: '/.well-known/jwks.json',
    summary: 'The public keys that verify tokens (RFC 7517)',
    auth: 'none',
    rateLimit: 'none',
    trace: 'none',
    schema: { response: { 200: keySet } },
  },
  revocations: {
    method: 'GET',
    url: `${api}/revocations`,
    summary: 'What was revoked, for those who verify tokens themselves',
    permission: [peerPermission, administration],
    trace: 'none',
    schema: {
      query: Type.Object({
        after: Type.Integer({
          minimum: 0,
          default: 0,
          description: 'the `version` that is known already',
        }),
      }),
      response: { 200: Type.Object({ revocations: Type.Array(revocation), next: Type.Integer() }) },
    },
  },
} as const satisfies Record<string, Route>;

const userRoutes = {
  listUsers: {
    method: 'GET',
    url: `${api}/users`,
    summary: 'List users, the newest first',
    permission: administration,
    schema: {
      query: userPage,
      response: { 200: listOf('users', userFields) },
    },
  },
  createUser: {
    method: 'POST',
    url: `${api}/users`,
    summary: 'Create a user with roles that you could have yourself',
    permission: administration,
    schema: { body: newUser, response: { 201: userFields } },
  },
  readUser: {
    method: 'GET',
    url: `${api}/users/:id`,
    summary: 'Read a user',
    permission: administration,
    schema: { params: idParams, response: { 200: userFields } },
  },
  updateUser: {
    method: 'PATCH',
    url: `${api}/users/:id`,
    summary: 'Change a user',
    description:
      'Only of users who may do no more than you. Disabling ends every token and session at once, a new password every session; roles taken away end every access token, those of API keys too, and a refresh gives one with what is left.',
    permission: administration,
    schema: { params: idParams, body: userChanges, response: { 200: userFields } },
  },
  deleteUser: {
    method: 'DELETE',
    url: `${api}/users/:id`,
    summary: 'Delete a user, with sessions and API keys',
    permission: administration,
    schema: {
      params: idParams,
      response: { 200: Type.Object({ id: Type.String(), deleted: Type.Boolean() }) },
    },
  },
} as const satisfies Record<string, Route>;

const apiKeyRoutes = {
  listApiKeys: {
    method: 'GET',
    url: `${api}/api-keys`,
    summary: 'List API keys, the newest first',
    description: 'Delegated keys that have ended are left out, and forgotten after a week.',
    permission: delegable,
    schema: { query: Type.Object(pageQuery()), response: { 200: listOf('apiKeys', apiKeyFields) } },
  },
  createApiKey: {
    method: 'POST',
    url: `${api}/api-keys`,
    summary: 'Create an API key; the answer is the only place that shows it',
    description:
      'With `auth:delegate` alone: a service key whose `service` begins with the caller’s own name and a hyphen. Only these does such a caller list, read and revoke.',
    permission: delegable,
    schema: { body: newApiKey, response: { 201: apiKeyAnswer } },
  },
  readApiKey: {
    method: 'GET',
    url: `${api}/api-keys/:id`,
    summary: 'Read what is known of an API key',
    permission: delegable,
    schema: { params: idParams, response: { 200: apiKeyFields } },
  },
  revokeApiKey: {
    method: 'DELETE',
    url: `${api}/api-keys/:id`,
    summary: 'Revoke an API key and every token it was traded for',
    permission: delegable,
    schema: { params: idParams, response: { 200: apiKeyFields } },
  },
  rotateApiKey: {
    method: 'POST',
    url: `${api}/api-keys/:id/rotate`,
    summary: 'Give an API key a new secret; the old one stays good for the overlap',
    permission: administration,
    schema: {
      params: idParams,
      body: Type.Union([
        Type.Object({
          overlapSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 30 * 86_400 })),
        }),
        Type.Null(),
      ]),
      response: { 200: apiKeyAnswer },
    },
  },
} as const satisfies Record<string, Route>;

/** The bus topic that carries each revocation to every process that verifies tokens. */
export const revocationTopic = 'revocations';

/** The bus topic that tells auth's replicas that the group mappings changed. */
export const groupMappingTopic = 'group-mappings';

/** The bus topic that tells auth's replicas that the signing keys changed. */
export const signingKeyTopic = 'signing-keys';

/** The authentication service as others see it. */
export const authContract = {
  name: 'auth',
  title: 'Ennead Auth',
  version: '1.0.0',
  description: 'Issues, refreshes, revokes and validates the access tokens of the whole suite.',
  error: authEnvelope.schema,
  routes: {
    health: healthRoute('/api/v1/health', {
      database: Type.String({ description: '`healthy` or `unhealthy`' }),
      signingKeys: Type.Integer({ description: 'how many public keys are published' }),
    }),
    ...tokenRoutes,
    ...userRoutes,
    ...apiKeyRoutes,
    ...keyRoutes,
    ...oauthRoutes,
    ...auditRoutes,
    ...roleRoutes,
    ...sessionRoutes,
    ...secondFactorRoutes,
    ...metadataRoutes,
  },
} as const satisfies Contract;

function listOf<K extends string, T extends Type.TSchema>(name: K, item: T) {
  return Type.Object({
    ...({ [name]: Type.Array(item) } as Record<K, Type.TArray<T>>),
    ...pageAnswer,
  });
}
