import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { idParams } from './administration.ts';

const password = Type.String({ minLength: 1, maxLength: 1024 });
const code = Type.String({
  minLength: 6,
  maxLength: 64,
  description: 'six digits of the app, or a recovery code where one is meant',
});
const recoveryCodes = Type.Array(Type.String({ description: 'good once' }), {
  description: 'shown this once',
});

const url = '/api/v1/auth/mfa';

/** The second factor of users, and their own password. */
export const secondFactorRoutes = {
  readSecondFactor: {
    method: 'GET',
    url,
    summary: 'Say whether you have a second factor',
    schema: {
      response: {
        200: Type.Object({
          totp: Type.Object({
            enabled: Type.Boolean(),
            enabledAt: Type.Optional(Type.String({ format: 'date-time' })),
          }),
          recoveryCodesLeft: Type.Integer(),
        }),
      },
    },
  },
  beginSecondFactor: {
    method: 'POST',
    url: `${url}/totp`,
    summary: 'Get a secret for an authenticator app (RFC 6238)',
    description: 'It is in force once `verify` has seen its first code. Takes a login, no API key.',
    schema: {
      body: Type.Object({ password }),
      response: { 200: Type.Object({ secret: Type.String(), otpauthUrl: Type.String() }) },
    },
  },
  enableSecondFactor: {
    method: 'POST',
    url: `${url}/totp/verify`,
    summary: 'Put the second factor in force with its first code',
    schema: {
      body: Type.Object({ code }),
      response: { 200: Type.Object({ enabled: Type.Literal(true), recoveryCodes }) },
    },
  },
  disableSecondFactor: {
    method: 'DELETE',
    url: `${url}/totp`,
    summary: 'End your second factor',
    schema: {
      body: Type.Object({ password, code }),
      response: { 200: Type.Object({ enabled: Type.Literal(false) }) },
    },
  },
  renewRecoveryCodes: {
    method: 'POST',
    url: `${url}/recovery-codes`,
    summary: 'Replace your recovery codes',
    schema: {
      body: Type.Object({ code }),
      response: { 200: Type.Object({ recoveryCodes }) },
    },
  },
  resetSecondFactor: {
    method: 'DELETE',
    url: '/api/v1/auth/users/:id/mfa',
    summary: 'End the second factor of a user who has lost it',
    description: 'Only of users who may do no more than you.',
    permission: 'auth:admin',
    schema: {
      params: idParams,
      response: {
        200: Type.Object({
          userId: Type.String(),
          reset: Type.Boolean({ description: 'false when there was none in force' }),
        }),
      },
    },
  },
  changePassword: {
    method: 'POST',
    url: '/api/v1/auth/password',
    summary: 'Change your own password',
    description: 'Ends every other session of yours. Takes a login, no API key.',
    schema: {
      body: Type.Object({
        currentPassword: password,
        newPassword: Type.String({ minLength: 8, description: 'at most 1,024 bytes' }),
      }),
      response: { 200: Type.Object({ changed: Type.Literal(true) }) },
    },
  },
} as const satisfies Record<string, Route>;
