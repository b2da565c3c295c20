import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { roles } from '../workspaces/roles.ts';

const me = Type.Object(
  {
    id: Type.String(),
    name: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
    roles: Type.Array(Type.String(), { description: 'at the authentication service' }),
    permissions: Type.Array(Type.String()),
    role: Type.Optional(
      Type.Enum(roles, {
        description: '`Admin` for administrators; everybody else has a role in each workspace',
      }),
    ),
  },
  { $id: 'Me' },
);

/** Login, logout and me: those of the authentication service, with the session cookie. */
export const sessionRoutes = {
  login: {
    method: 'POST',
    url: '/api/v1/auth/login',
    summary: 'Log in, and get the session as a cookie',
    description:
      'The authentication service decides, with its limits. The cookie lasts as long as the access token.',
    auth: 'none',
    schema: {
      body: Type.Object({
        username: Type.String({ minLength: 1, maxLength: 1_024 }),
        password: Type.String({ minLength: 1, maxLength: 1_024 }),
        otp: Type.Optional(Type.String({ maxLength: 64, description: 'the second factor' })),
      }),
      response: {
        200: Type.Object({
          access_token: Type.String(),
          refresh_token: Type.String(),
          token_type: Type.Literal('Bearer'),
          expires_in: Type.Integer({ description: 'seconds' }),
          scope: Type.String({ description: 'the permissions, separated by spaces' }),
          user: me,
        }),
      },
    },
  },
  logout: {
    method: 'POST',
    url: '/api/v1/auth/logout',
    summary: 'End the session, and its cookie',
    schema: { response: { 200: Type.Object({ success: Type.Literal(true) }) } },
  },
  me: {
    method: 'GET',
    url: '/api/v1/auth/me',
    summary: 'Say who you are',
    schema: { response: { 200: me } },
  },
} as const satisfies Readonly<Record<string, Route>>;
