import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const cookie =
  'The cookie `session` is `HttpOnly` and `SameSite=Lax`; with it, writes and sockets need an `Origin` that is this service.';

/** A session of a browser, which keeps no token where scripts can read it. */
export const sessionRoutes = {
  openSession: {
    method: 'POST',
    url: '/api/session',
    summary: 'Exchange an access token for a session cookie',
    description: `The token stands behind \`Bearer\` or in the body. The session ends with it. ${cookie}`,
    auth: 'none',
    schema: {
      body: Type.Object({
        token: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
      }),
      response: {
        200: Type.Object({
          success: Type.Literal(true),
          expires_at: Type.String({ format: 'date-time' }),
        }),
      },
    },
  },
  closeSession: {
    method: 'DELETE',
    url: '/api/session',
    summary: 'Forget the session cookie',
    description: 'The token in it stays good until it expires or auth revokes it.',
    auth: 'none',
    schema: { response: { 200: Type.Object({ success: Type.Literal(true) }) } },
  },
} as const satisfies Readonly<Record<string, Route>>;
