import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startAuth, type RunningAuth } from '../testing.ts';
import { decode, nowSeconds } from './forge.ts';
import {
  auditEvents,
  createVictim,
  expectHealthy,
  openTarget,
  refusalOf,
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

function refresh(refresh_token: unknown, more: object = {}, service: RunningAuth = target.auth) {
  const body = { refresh_token, grant_type: 'refresh_token', ...more };
  return service.call('POST', '/api/v1/auth/refresh', { body });
}

function revoke(by: string, token: string, more: object = {}) {
  return target.auth.call('POST', '/api/v1/auth/revoke', { token: by, body: { token, ...more } });
}

/** Moves the last rotation of a session into the past. */
async function age(token: string, interval: string): Promise<void> {
  await target.ground.database.query(
    `update auth.sessions set token_issued_at = token_issued_at - $2::interval where id = $1`,
    [decode(token, 1)['sid'], interval],
  );
}

const tooMany = { status: 429, code: 'rate_limit_exceeded' };
const toldWhen = { limit: '100', remaining: '0', isWaitTold: true, isResetTold: true };
const badGrant = { status: 400, code: 'invalid_grant' };

const cases: readonly AttackCase[] = [
  {
    name: 'E31: a lost answer is repeated with the same successor, and the session lives',
    run: async () => {
      const { refreshToken } = await createVictim(target);
      const first = (await refresh(refreshToken)).body.refresh_token;
      const second = (await refresh(refreshToken)).body.refresh_token;
      return [first === second, (await refresh(first)).status];
    },
    expected: [true, 200],
  },
  {
    name: 'E32: a token replayed in the second of two rotations ends the session',
    run: async () => {
      const { refreshToken } = await createVictim(target);
      const next = (await refresh(refreshToken)).body;
      const last = (await refresh(next.refresh_token)).body;
      const replayed = await refresh(refreshToken);
      return [
        replayed.body.error.details.reason,
        refusalOf(await refresh(last.refresh_token)),
        await verdictsOf(target, last.access_token),
      ];
    },
    expected: ['token_reused', badGrant, { validate: 'token_revoked', auth: 401, relying: 401 }],
  },
  {
    name: 'E32: a thief who refreshes first loses the session when the owner comes',
    run: async () => {
      const { refreshToken } = await createVictim(target);
      const stolen = (await refresh(refreshToken)).body;
      await age(refreshToken, '11 seconds');
      await refresh(refreshToken);
      return [
        await target.auth.validity(stolen.access_token),
        refusalOf(await refresh(stolen.refresh_token)),
      ];
    },
    expected: ['token_revoked', badGrant],
  },
  ...['auth:admin', '*', 'agent:read auth:admin', 'agent:*'].map((scope) => ({
    name: `E33: the scope "${scope}" gives nobody more than was granted`,
    run: async () => refusalOf(await refresh((await createVictim(target)).refreshToken, { scope })),
    expected: { status: 400, code: 'invalid_scope' },
  })),
  {
    name: 'E33: an audience, a lifetime and permissions in the request are not heard',
    run: async () => {
      const { refreshToken } = await createVictim(target);
      const wishes = {
        aud: ['other'],
        exp: 9e9,
        expires_in: 9e9,
        permissions: ['*'],
        roles: ['admin'],
      };
      const { body } = await refresh(refreshToken, wishes);
      const { aud, permissions, roles, exp, iat } = decode(body.access_token, 1);
      return { aud, permissions, roles, lifeSeconds: Number(exp) - Number(iat) };
    },
    expected: {
      aud: ['ennead'],
      permissions: ['agent:read', 'workflow:read'],
      roles: ['user'],
      lifeSeconds: 3600,
    },
  },
  {
    name: 'E34: a session ends thirty days after its login although it was used',
    run: async () => {
      const { refreshToken } = await createVictim(target);
      const next = (await refresh(refreshToken)).body.refresh_token;
      const isKept = decode(next, 1)['exp'] === decode(refreshToken, 1)['exp'];
      await target.ground.database.query(
        `update auth.sessions set expires_at = now() - interval '1 second' where id = $1`,
        [decode(next, 1)['sid']],
      );
      return [isKept, refusalOf(await refresh(next))];
    },
    expected: [true, badGrant],
  },
  {
    name: 'E35: the 101st refresh of an hour is refused by both replicas, says when, and takes no token',
    run: async () => {
      // Without a setting the limit is that of the interface, 100 an hour.
      await using one = await startAuth(target.ground);
      await using other = await startAuth(target.ground);
      let { refreshToken } = await createVictim(target);
      const passed: number[] = [];
      for (let count = 0; count < 100; count += 1) {
        const { status, body } = await refresh(refreshToken, {}, count % 2 === 0 ? one : other);
        passed.push(status);
        refreshToken = body.refresh_token;
      }
      const refusals = [
        await refresh(refreshToken, {}, one),
        await refresh(refreshToken, {}, other),
      ];
      const told = refusals.map(({ headers }) => ({
        limit: headers['x-ratelimit-limit'],
        remaining: headers['x-ratelimit-remaining'],
        isWaitTold: Number(headers['retry-after']) > 0,
        isResetTold: Number(headers['x-ratelimit-reset']) > nowSeconds(),
      }));
      return [
        passed.filter((status) => status !== 200),
        refusals.map(refusalOf),
        told,
        // Who allows more finds the token as good as before.
        (await refresh(refreshToken)).status,
      ];
    },
    expected: [[], [tooMany, tooMany], [toldWhen, toldWhen], 200],
  },
  ...(['accessToken', 'refreshToken'] as const).map((which) => ({
    name: `E36: another user's ${which} cannot be revoked, and the attempt is on record`,
    run: async () => {
      const [victim, other] = [await createVictim(target), await createVictim(target)];
      const refusal = refusalOf(await revoke(other.accessToken, victim[which]));
      const [event] = await auditEvents(target, `&userId=${other.id}`);
      return [refusal, await target.auth.validity(victim.accessToken), event.eventType];
    },
    expected: [
      { status: 403, code: 'insufficient_permissions' },
      'valid',
      'token_revocation_refused',
    ],
  })),
  {
    name: 'E37: neither token nor anything that yields one stands in a dump of the database',
    run: async () => {
      const { refreshToken, accessToken } = await createVictim(target);
      const next = (await refresh(refreshToken)).body;
      const rows = await target.ground.database.query<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'auth'`,
      );
      let dump = '';
      for (const { name } of rows) {
        dump += JSON.stringify(
          await target.ground.database.query(`select t::text from auth.${name} t`),
        );
      }
      const secrets = [refreshToken, accessToken, next.refresh_token, next.access_token];
      return [
        dump.includes(String(decode(accessToken, 1)['sid'])),
        secrets.some((token) => dump.includes(token.slice(-40))),
      ];
    },
    expected: [true, false],
  },
  ...[
    ['an access token', () => target.forge.good],
    ['an API key', () => 'enn_0_1_2'],
    ['nothing', () => ''],
    ['text', () => 'x'],
    ['a token signed by a stranger', () => refreshClaims({}, target.forge.foreignSigner)],
    ['a refresh token for another issuer', () => refreshClaims({ aud: ['ennead'] })],
    [
      'a refresh token under the use of an access token',
      () => refreshClaims({ token_use: 'access' }),
    ],
    ['a refresh token without a session', () => refreshClaims({ sid: undefined })],
    ['an unknown session', () => refreshClaims({ sid: 'ses_unknown' })],
    ['an expired refresh token', () => refreshClaims({ exp: nowSeconds() - 60 })],
  ].map(([what, token]) => ({
    name: `own 20: ${String(what)} refreshes nothing`,
    run: async () => refusalOf(await refresh((token as () => string)())),
    expected: badGrant,
  })),
  ...[7, null, ['x'], { $ne: '' }].map((value) => ({
    name: `own 21: a refresh token of ${JSON.stringify(value)} is a bad request`,
    run: async () => refusalOf(await refresh(value)),
    expected: { status: 400, code: 'validation_error' },
  })),
  {
    name: 'own 22: a refresh token opens no route and is not valid',
    run: async () => {
      const { refreshToken } = await createVictim(target);
      return verdictsOf(target, refreshToken);
    },
    expected: { validate: 'token_invalid', auth: 401, relying: 401 },
  },
  {
    name: 'own 23: one token sent to two replicas at once has one successor',
    run: async () => {
      await using replica = await startAuth(target.ground, {
        environment: { AUTH_REFRESHES_PER_HOUR: '1000000' },
      });
      const { refreshToken } = await createVictim(target);
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          refresh(refreshToken, {}, at % 2 === 0 ? target.auth : replica),
        ),
      );
      return [
        new Set(replies.map(({ status }) => status)).size,
        new Set(replies.map(({ body }) => body.refresh_token)).size,
      ];
    },
    expected: [1, 1],
  },
  {
    name: 'own 24: a replay at one replica ends the session at the other',
    run: async () => {
      await using replica = await startAuth(target.ground);
      const { refreshToken } = await createVictim(target);
      const next = (await refresh(refreshToken)).body.refresh_token;
      const last = (await refresh(next, {}, replica)).body.refresh_token;
      const replayed = refusalOf(await refresh(refreshToken, {}, replica));
      return [replayed, refusalOf(await refresh(last))];
    },
    expected: [badGrant, badGrant],
  },
  {
    name: 'own 25: logging out ends a refresh that is under way as well',
    run: async () => {
      const { refreshToken, accessToken } = await createVictim(target);
      const [, racing] = await Promise.all([
        revoke(accessToken, refreshToken),
        refresh(refreshToken),
      ]);
      const tokens = racing.status === 200 ? racing.body : undefined;
      const isDead = tokens ? (await target.auth.validity(tokens.access_token)) !== 'valid' : true;
      return [isDead, refusalOf(await refresh(tokens?.refresh_token ?? refreshToken)).code];
    },
    expected: [true, 'invalid_grant'],
  },
  {
    name: 'own 26: a wrong hint neither protects a token nor harms another',
    run: async () => {
      const { refreshToken, accessToken } = await createVictim(target);
      await revoke(accessToken, refreshToken, { token_type_hint: 'access_token' });
      return [await target.auth.validity(accessToken), refusalOf(await refresh(refreshToken)).code];
    },
    expected: ['token_revoked', 'invalid_grant'],
  },
  {
    name: 'own 27: a token of nobody is revoked without an answer that tells of others',
    run: async () => {
      const { accessToken } = await createVictim(target);
      const { status, body } = await revoke(accessToken, 'a.b.c');
      return [status, body];
    },
    expected: [200, { revoked: false }],
  },
  {
    name: 'own 28: a revoked token cannot be used to revoke',
    run: async () => {
      const { accessToken, refreshToken } = await createVictim(target);
      await revoke(accessToken, accessToken);
      return refusalOf(await revoke(accessToken, refreshToken));
    },
    expected: { status: 401, code: 'invalid_token' },
  },
];

/** A refresh token of claims that the suite would never put into one. */
function refreshClaims(
  changes: Readonly<Record<string, unknown>>,
  signer = target.forge.signer,
): string {
  const { forge } = target;
  return forge.token({ ...decode(forge.refreshToken, 1), ...changes }, {}, signer);
}

test.each(cases)('$name', async ({ run, expected }) => {
  expect(await run()).toEqual(expected);
});
