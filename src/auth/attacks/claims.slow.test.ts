import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { groupMappingTopic } from '../contract.ts';
import { startAuth } from '../testing.ts';
import { decode, nowSeconds } from './forge.ts';
import {
  accepted,
  createVictim,
  expectHealthy,
  openTarget,
  refusalOf,
  refused,
  userPassword,
  verdictsOf,
  type AttackCase,
  type Target,
} from './testing.ts';

let target: Target;

beforeAll(async () => {
  target = await openTarget();
});
afterEach(() => expectHealthy(target));
afterAll(() => target[Symbol.asyncDispose]());

const no = refused();
const expired = refused('token_expired');

type Claims = () => Readonly<Record<string, unknown>>;

const cases: readonly [name: string, claims: Claims, expected: object][] = [
  ['B14: an expiry beyond the leeway', () => ({ exp: nowSeconds() - 6 }), expired],
  ['B14: an expiry long past', () => ({ exp: nowSeconds() - 86_400 }), expired],
  ['B14: an expiry within the leeway', () => ({ exp: nowSeconds() - 2 }), accepted],
  ['B15: a start beyond the leeway', () => ({ nbf: nowSeconds() + 60 }), no],
  ['B15: a start within the leeway', () => ({ nbf: nowSeconds() + 2 }), accepted],
  ['B15: a start that is text', () => ({ nbf: '0' }), no],
  ['B16: no expiry', () => ({ exp: undefined }), no],
  ['B16: an expiry of text', () => ({ exp: '9999999999' }), no],
  ['B16: an expiry of 1e308', () => ({ exp: 1e308 }), no],
  ['B16: an expiry beyond every calendar', () => ({ exp: 8.64e12 + 1 }), no],
  ['B16: an expiry of null, as NaN travels', () => ({ exp: Number.NaN }), no],
  ['B16: an expiry below zero', () => ({ exp: -1 }), expired],
  ['B16: an expiry below every calendar', () => ({ exp: -1e300 }), expired],
  ['B16: a broken expiry', () => ({ exp: nowSeconds() + 60.5 }), no],
  ['B16: an expiry in a list', () => ({ exp: [nowSeconds() + 60] }), no],
  ['B16: an expiry of true', () => ({ exp: true }), no],
  ['B17: no audience', () => ({ aud: undefined }), no],
  ['B17: another audience', () => ({ aud: ['other'] }), no],
  ['B17: an empty audience', () => ({ aud: [] }), no],
  ['B17: an audience with a blank', () => ({ aud: ['ennead '] }), no],
  ['B17: an audience in capitals', () => ({ aud: 'ENNEAD' }), no],
  ['B17: an audience that is an object', () => ({ aud: { ennead: true } }), no],
  ['B17: an audience in a list of lists', () => ({ aud: [['ennead']] }), no],
  ['B17: the audience as text', () => ({ aud: 'ennead' }), accepted],
  ['B17: the audience among others', () => ({ aud: ['x', 'ennead'] }), accepted],
  ['B18: no id', () => ({ jti: undefined }), no],
  ['B18: an empty id', () => ({ jti: '' }), no],
  ['B18: an id that is a number', () => ({ jti: 7 }), no],
  ['own 10: no subject', () => ({ sub: undefined }), no],
  ['own 10: a subject in a list', () => ({ sub: ['usr_1'] }), no],
  ['own 11: no session', () => ({ sid: undefined }), no],
  ['own 12: another issuer', () => ({ iss: 'http://evil.test' }), no],
  ['own 12: the issuer with a slash', () => ({ iss: 'http://auth.test/' }), no],
  ['own 12: the issuer in a list', () => ({ iss: ['http://auth.test'] }), no],
  ['own 13: the use of a refresh token', () => ({ token_use: 'refresh' }), no],
  ['own 13: no use', () => ({ token_use: undefined }), no],
  ['own 13: the use in a list', () => ({ token_use: ['access'] }), no],
  ['own 13: the use of an ID token', () => ({ token_use: 'id' }), no],
  ['own 14: no issue time', () => ({ iat: undefined }), no],
  ['own 14: an issue time of text', () => ({ iat: 'now' }), no],
];

describe('a token with', () => {
  test.each(cases)('%s gets one answer from all who verify', async (_, claims, expected) => {
    expect(await verdictsOf(target, target.forge.token(claims()))).toEqual(expected);
  });
});

const shapes: readonly [string, unknown][] = [
  ['text', '*'],
  ['a list in a list', [['*']]],
  ['an object', { 0: '*', length: 1 }],
  ['null', null],
  ['numbers', [0, 1]],
  ['a wildcard of another spelling', ['**', '* ', 'things:adm*', 'THINGS:ADMIN', '＊']],
  ['prefixes', ['things:', 'things', ':admin', ':*', '']],
];

describe('permissions that are', () => {
  test.each(shapes)('own 15: %s permit nothing', async (_, permissions) => {
    const token = target.forge.token({ permissions });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await target.relying.app.inject({ url: '/things/manage', headers });
    expect(answer.statusCode).toBe(403);
    const own = await target.auth.call('GET', '/api/v1/auth/users', { token });
    expect(refusalOf(own)).toEqual({ status: 403, code: 'insufficient_permissions' });
  });

  test('own 16: named in scope alone permit nothing', async () => {
    const token = target.forge.token({ permissions: [], roles: ['admin'], scope: '*' });
    expect(await verdictsOf(target, token)).toMatchObject({ auth: 403 });
  });
});

const token = (bearer: string, body?: unknown) => ({ token: bearer, body });

const endings: readonly AttackCase[] = [
  {
    name: 'B18: a token that is revoked after all had it in their caches is refused by all',
    run: async () => {
      const { accessToken } = await createVictim(target);
      const before = await verdictsOf(target, accessToken);
      await target.auth.call(
        'POST',
        '/api/v1/auth/revoke',
        token(accessToken, { token: accessToken }),
      );
      return [before.validate, await verdictsOf(target, accessToken)];
    },
    expected: ['valid', refused('token_revoked')],
  },
  {
    name: 'B18: a fresh token under a revoked id is refused too',
    run: async () => {
      const { accessToken } = await createVictim(target);
      await target.auth.call(
        'POST',
        '/api/v1/auth/revoke',
        token(accessToken, { token: accessToken }),
      );
      const { jti } = decode(accessToken, 1);
      return verdictsOf(target, target.forge.token({ jti }));
    },
    expected: refused('token_revoked'),
  },
  ...[
    { what: 'disabled', method: 'PATCH' as const, body: { disabled: true } },
    { what: 'deleted', method: 'DELETE' as const, body: undefined },
  ].map(({ what, method, body }) => ({
    name: `B19: the tokens of a user who was ${what} are refused by all, and cannot be refreshed`,
    run: async () => {
      const { id, accessToken, refreshToken } = await createVictim(target);
      const before = await verdictsOf(target, accessToken);
      const { good } = target.forge;
      await target.auth.call(method, `/api/v1/auth/users/${id}`, token(good, body));
      const refreshed = await target.auth.call('POST', '/api/v1/auth/refresh', {
        body: { refresh_token: refreshToken, grant_type: 'refresh_token' },
      });
      return [before.validate, await verdictsOf(target, accessToken), refusalOf(refreshed).code];
    },
    expected: ['valid', refused('token_revoked'), 'invalid_grant'],
  })),
  {
    name: 'B20: who lost a role has less in the next token, and cannot ask for it back',
    run: async () => {
      const { id, refreshToken } = await createVictim(target, ['developer', 'user']);
      const { good } = target.forge;
      await target.auth.call('PATCH', `/api/v1/auth/users/${id}`, token(good, { roles: ['user'] }));
      const refresh = (scope?: string) =>
        target.auth.call('POST', '/api/v1/auth/refresh', {
          body: { refresh_token: refreshToken, grant_type: 'refresh_token', scope },
        });
      const wide = refusalOf(await refresh('agent:execute'));
      const { body } = await refresh();
      return [wide, decode(body.access_token, 1)['permissions']];
    },
    expected: [{ status: 400, code: 'invalid_scope' }, ['agent:read', 'workflow:read']],
  },
  {
    name: 'B20: when a mapping loses permissions, a replica that hears of it issues less at once',
    run: async () => {
      await using replica = await startAuth(target.ground);
      const { username } = await createVictim(target);
      const { good } = target.forge;
      const url = '/api/v1/auth/group-mappings';
      const { body: before } = await target.auth.call('GET', url, { token: good });
      const mappings = before.mappings.map((mapping: { platformRole: string }) =>
        mapping.platformRole === 'user' ? { ...mapping, permissions: ['agent:read'] } : mapping,
      );
      const replace = (body: object) => target.auth.call('PUT', url, token(good, body));
      const held = async () => {
        const { body } = await replica.login(username, userPassword);
        return decode(body.access_token, 1)['permissions'];
      };
      const first = await held();
      await replace({ mappings });
      try {
        await replica.host.bus.topic(groupMappingTopic).publish({ by: '' });
        // Without the bus it would be read within five seconds.
        await expect.poll(held, { interval: 20 }).toEqual(['agent:read']);
      } finally {
        await replace({ mappings: before.mappings });
      }
      return first;
    },
    expected: ['agent:read', 'workflow:read'],
  },
  {
    name: 'own 17: a token that one replica revokes is refused by another that had cached it',
    run: async () => {
      const { accessToken } = await createVictim(target);
      await using replica = await startAuth(target.ground);
      const ask = async () => {
        const body = { token: accessToken };
        return (await replica.call('POST', '/api/v1/auth/validate', { body })).body.valid;
      };
      const before = await ask();
      const body = { token: accessToken };
      await target.auth.call('POST', '/api/v1/auth/revoke', token(accessToken, body));
      await expect.poll(ask).toBe(false);
      return before;
    },
    expected: true,
  },
  {
    name: 'own 18: of a revocation and a hundred checks at the same time, no later check succeeds',
    run: async () => {
      const { accessToken } = await createVictim(target);
      const body = { token: accessToken };
      const check = () => target.auth.call('POST', '/api/v1/auth/validate', { body });
      const racing = Array.from({ length: 50 }, check);
      const revoking = target.auth.call('POST', '/api/v1/auth/revoke', token(accessToken, body));
      await Promise.all([revoking, ...racing, ...Array.from({ length: 50 }, check)]);
      const after = await Promise.all(Array.from({ length: 20 }, check));
      return [...new Set(after.map((reply) => reply.body.error))];
    },
    expected: ['token_revoked'],
  },
  {
    name: 'own 19: what a token says of the user changes nothing at the verifier',
    run: async () => {
      const { accessToken } = await createVictim(target, []);
      const user = { id: 'usr_admin', email: 'admin', name: 'admin', permissions: ['*'] };
      const forged = target.forge.token({ ...decode(accessToken, 1), jti: 'own-19', user });
      return (await target.auth.call('GET', '/api/v1/auth/users', { token: forged })).status;
    },
    expected: 403,
  },
];

describe('what ends a token ends it everywhere', () => {
  test.each(endings)('$name', async ({ run, expected }) => {
    expect(await run()).toEqual(expected);
  });
});
