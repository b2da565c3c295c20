import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

const url = '/api/v1/auth/keys';
const permission = 'auth:admin';
const timestamp = Type.String({ format: 'date-time' });
const keyId = Type.String({ description: 'the `kid` of tokens that it signs' });

const keyFields = Type.Object(
  {
    kid: keyId,
    state: Type.Union(
      [
        Type.Literal('pending'),
        Type.Literal('active'),
        Type.Literal('previous'),
        Type.Literal('retired'),
        Type.Literal('revoked'),
      ],
      { description: 'the key set shows a key while it is pending, active or previous' },
    ),
    createdAt: timestamp,
    stateChangedAt: timestamp,
  },
  { $id: 'SigningKey' },
);

/** The administration of the signing keys. */
export const keyRoutes = {
  listKeys: {
    method: 'GET',
    url,
    summary: 'List the signing keys, the newest first',
    permission,
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          keys: Type.Array(keyFields),
          ...pageAnswer,
        }),
      },
    },
  },
  rotateKey: {
    method: 'POST',
    url: `${url}/rotate`,
    summary: 'Let the next signing key take over now',
    description:
      'No token ends: the key before stays in the key set until the last token that it signed has expired.',
    permission,
    schema: {
      body: Type.Union([Type.Object({}), Type.Null()]),
      response: { 200: Type.Object({ kid: keyId, previousKid: keyId, rotatedAt: timestamp }) },
    },
  },
  revokeKey: {
    method: 'POST',
    url: `${url}/:kid/revoke`,
    summary: 'End a signing key that others may know, and every token that it signed',
    description:
      'It leaves the key set at once. When it was the active one, the next takes over and all sessions that it signed end.',
    permission,
    schema: {
      params: Type.Object({
        kid: Type.String({ minLength: 1, maxLength: 128, description: 'of a signing key' }),
      }),
      body: Type.Union([
        Type.Object({ reason: Type.Optional(Type.String({ maxLength: 256 })) }),
        Type.Null(),
      ]),
      response: {
        200: Type.Object({
          kid: keyId,
          revoked: Type.Boolean(),
          activeKid: keyId,
          revokedAt: timestamp,
        }),
      },
    },
  },
} as const satisfies Record<string, Route>;
