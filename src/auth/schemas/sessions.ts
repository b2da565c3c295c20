import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { idParams } from './administration.ts';

const timestamp = Type.String({ format: 'date-time' });
const userId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'whose sessions, which takes `auth:admin`; your own when absent',
  }),
);

const session = Type.Object(
  {
    id: Type.String(),
    userId: Type.String(),
    clientId: Type.String(),
    createdAt: timestamp,
    lastUsedAt: Type.String({ format: 'date-time', description: 'of the last login or refresh' }),
    expiresAt: timestamp,
    current: Type.Boolean({ description: 'the one that this request was made with' }),
  },
  { $id: 'Session' },
);

const url = '/api/v1/auth/sessions';

/** The open login sessions. */
export const sessionRoutes = {
  listSessions: {
    method: 'GET',
    url,
    summary: 'List open sessions, the newest first',
    schema: {
      query: Type.Object({ ...pageQuery(), userId }),
      response: {
        200: Type.Object({
          sessions: Type.Array(session),
          ...pageAnswer,
        }),
      },
    },
  },
  endSessions: {
    method: 'DELETE',
    url,
    summary: 'End all sessions of yours, or of a user',
    description: 'Every token of theirs ends within a second.',
    schema: {
      query: Type.Object({
        userId,
        except: Type.Optional(
          Type.Literal('current', { description: 'keeps the session of this request' }),
        ),
      }),
      response: { 200: Type.Object({ ended: Type.Integer() }) },
    },
  },
  endSession: {
    method: 'DELETE',
    url: `${url}/:id`,
    summary: 'End a session of yours, or any with `auth:admin`',
    schema: {
      params: idParams,
      response: { 200: Type.Object({ id: Type.String(), ended: Type.Boolean() }) },
    },
  },
} as const satisfies Record<string, Route>;
