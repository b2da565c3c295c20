import { generate } from 'otplib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { adminPassword, startAuth, type Reply, type RunningAuth } from '../testing.ts';
import { decode } from './forge.ts';
import {
  auditEvents,
  createVictim,
  expectHealthy,
  openTarget,
  refusalOf,
  userPassword,
  type AttackCase,
  type Target,
} from './testing.ts';

let target: Target;
/** A replica on which a name has three attempts. */
let limited: RunningAuth;

beforeAll(async () => {
  target = await openTarget();
  limited = await startAuth(target.ground, {
    environment: {
      AUTH_LOGIN_ATTEMPTS: '3',
      AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: '3',
      AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: '3',
    },
  });
  await createVictim(target, ['user'], 'straße');
  await createVictim(target, ['user'], 'victim');
});
afterEach(() => expectHealthy(target));
afterAll(async () => {
  await limited[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

interface Sent {
  readonly ip?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly service?: RunningAuth;
}

function login(form: object, { service = target.auth, ...sent }: Sent = {}): Promise<Reply> {
  const body = {
    username: 'admin',
    password: adminPassword,
    client_id: 'c',
    grant_type: 'password',
  };
  return service.call('POST', '/api/v1/auth/login', { body: { ...body, ...form }, ...sent });
}

/** Statuses of four tries at the replica on which three are allowed. */
async function tries(attempt: (at: number) => Promise<Reply>): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < 4; at += 1) statuses.push((await attempt(at)).status);
  return statuses;
}

function createUser(username: string) {
  const body = { username, password: userPassword, email: 'a@example.com', name: 'A', roles: [] };
  return target.auth.call('POST', '/api/v1/auth/users', { token: target.forge.good, body });
}

const wrong = { status: 401, code: 'invalid_credentials' };
const invalid = { status: 400, code: 'validation_error' };
const tooMany = [401, 401, 401, 429];

const cases: readonly AttackCase[] = [
  {
    name: 'C22: a forged X-Forwarded-For wins no attempts',
    run: () =>
      tries((at) =>
        login(
          { username: `n${at}`, password: 'x' },
          {
            service: limited,
            ip: '10.1.0.1',
            headers: { 'x-forwarded-for': `1.2.3.${at}`, forwarded: `for=1.2.3.${at}` },
          },
        ),
      ),
    expected: tooMany,
  },
  {
    name: 'C22: other addresses of one IPv6 network win no attempts',
    run: () =>
      tries((at) =>
        login(
          { username: `m${at}`, password: 'x' },
          { service: limited, ip: `2001:db8:0:1:${at + 1}::${at}` },
        ),
      ),
    expected: tooMany,
  },
  {
    name: 'C22: other spellings of one username win no attempts',
    run: () => {
      const spellings = ['Spelled', ' spelled ', 'ｓｐｅｌｌｅｄ', 'SPELLED'];
      return tries((at) =>
        login({ username: spellings[at], password: 'x' }, { service: limited, ip: `10.2.0.${at}` }),
      );
    },
    expected: tooMany,
  },
  {
    name: 'C23: who is locked out by wrong passwords of others can still refresh',
    run: async () => {
      const { username, refreshToken } = await createVictim(target);
      const attack = await tries((at) =>
        login({ username, password: 'x' }, { service: limited, ip: `10.3.0.${at}` }),
      );
      const body = { refresh_token: refreshToken, grant_type: 'refresh_token' };
      const refreshed = await limited.call('POST', '/api/v1/auth/refresh', { body });
      return [attack, refreshed.status];
    },
    expected: [tooMany, 200],
  },
  {
    name: 'C24: an empty password is a bad request',
    run: async () => refusalOf(await login({ password: '' })),
    expected: invalid,
  },
  ...[
    ['one byte', 'x'],
    ['the right one and a suffix', `${adminPassword}x`],
    ['the right one without its end', adminPassword.slice(0, -1)],
    ['the right one and a blank', `${adminPassword} `],
    ['the right one in capitals', adminPassword.toUpperCase()],
    ['72 bytes', 'x'.repeat(72)],
    ['1,024 bytes', 'x'.repeat(1024)],
    ['an emoji cut in half', `${adminPassword}\uD83D`],
  ].map(([what, password]) => ({
    name: `C24: as a password ${what} is wrong`,
    run: async () => refusalOf(await login({ password })),
    expected: wrong,
  })),
  {
    name: 'C24: a password is not cut at 72 bytes',
    run: async () => {
      const long = 'x'.repeat(72);
      const { good } = target.forge;
      const body = {
        username: 'long',
        password: `${long}A`,
        email: 'a@example.com',
        name: 'A',
        roles: [],
      };
      await target.auth.call('POST', '/api/v1/auth/users', { token: good, body });
      const other = await login({ username: 'long', password: `${long}B` });
      const right = await login({ username: 'long', password: `${long}A` });
      return [other.status, right.status];
    },
    expected: [401, 200],
  },
  {
    name: 'C24: a password of 1,025 bytes is refused before it is hashed',
    run: async () => refusalOf(await login({ password: 'x'.repeat(1025) })),
    expected: { status: 400, code: 'password_too_long' },
  },
  {
    name: 'C24: a password of two megabytes is not even read',
    run: async () => refusalOf(await login({ password: 'x'.repeat(2 * 1024 * 1024) })),
    expected: { status: 413, code: 'too_large' },
  },
  ...[
    ['a Cyrillic letter', 'аdmin'],
    ['a zero-width joiner', 'ad\u200Dmin'],
    ['a right-to-left override', '\u202Enimda'],
    ['a soft hyphen', 'ad\u00ADmin'],
    ['a combining mark', 'a\u0301dmin'],
    ['a dotless i', 'adm\u0131n'],
    ['a dotted capital I', 'adm\u0130n'],
  ].map(([what, username]) => ({
    name: `C25: ${what} does not log in as the administrator`,
    run: async () => refusalOf(await login({ username })),
    expected: wrong,
  })),
  ...[
    'ad\u200Bmin',
    '\u202Eadmin',
    'ad min',
    'admin\u0000'.slice(0, 5) + '\t.',
    '.',
    '-',
    'a/b',
    'a\nb',
    '<b>',
    "a'--",
    'ad\u00ADmin',
    '\u0301a',
  ].map((username) => ({
    name: `C25: nobody gets the name ${JSON.stringify(username)}`,
    run: async () => refusalOf(await createUser(username)),
    expected: { status: 400, code: 'invalid_username' },
  })),
  ...['ADMIN', 'ａｄｍｉｎ', ' admin ', 'Admin'].map((username) => ({
    name: `C25: the name ${JSON.stringify(username)} is the administrator's and is taken`,
    run: async () => refusalOf(await createUser(username)),
    expected: { status: 409, code: 'username_taken' },
  })),
  {
    name: 'C25: straße and STRASSE are two users',
    run: async () => refusalOf(await login({ username: 'STRASSE', password: userPassword })),
    expected: wrong,
  },
  {
    name: 'C26: of two hundred logins at once the overflow is told when to come again',
    run: async () => {
      const replies = await Promise.all(
        Array.from({ length: 200 }, () => login({ username: 'nobody', password: 'x' })),
      );
      const statuses = new Set(replies.map(({ status }) => status));
      const overflow = replies.find(({ status }) => status === 503);
      return [
        [...statuses].toSorted((a, b) => a - b),
        Number(overflow?.headers['retry-after']) > 0,
      ];
    },
    expected: [[401, 503], true],
  },
  {
    name: 'C27: a login with a token at hand opens a session of its own',
    run: async () => {
      const { good } = target.forge;
      const { body } = await login({}, { headers: { authorization: `Bearer ${good}` } });
      const [before, after] = [decode(good, 1), decode(body.access_token, 1)];
      return [before['sid'] === after['sid'], before['jti'] === after['jti']];
    },
    expected: [false, false],
  },
  {
    name: 'C27: a session id that the caller brings is not taken',
    run: async () => {
      const { body } = await login(
        { sid: 'ses_chosen', jti: 'chosen', session: 'ses_chosen' },
        { headers: { cookie: 'session=ses_chosen' } },
      );
      const { sid, jti } = decode(body.access_token, 1);
      return [sid === 'ses_chosen', jti === 'chosen'];
    },
    expected: [false, false],
  },
  {
    name: 'C27: no login sets a cookie',
    run: async () => (await login({})).headers['set-cookie'],
    expected: undefined,
  },
  {
    name: 'own 29: roles and permissions in a login are not heard',
    run: async () => {
      const wishes = {
        roles: ['admin'],
        permissions: ['*'],
        scope: '*',
        user: { id: 'usr_admin' },
      };
      const { body } = await login({ username: 'victim', password: userPassword, ...wishes });
      const { roles, permissions } = decode(body.access_token, 1);
      return [roles, permissions, body.scope];
    },
    expected: [['user'], ['agent:read', 'workflow:read'], 'agent:read workflow:read'],
  },
  ...[
    ['a list', ['admin']],
    ['an object', { $gt: '' }],
    ['true', true],
    ['null', null],
    ['a number', 0],
  ].map(([what, value]) => ({
    name: `own 30: ${what as string} is neither a username nor a password`,
    run: async () => [
      refusalOf(await login({ username: value })),
      refusalOf(await login({ password: value })),
    ],
    expected: [invalid, invalid],
  })),
  ...["' or '1'='1", "admin'--", 'admin") or ("1"="1', '%', '_dmin', 'admin;select 1'].map(
    (username) => ({
      name: `own 31: the username ${JSON.stringify(username)} is data, no SQL`,
      run: async () => refusalOf(await login({ username })),
      expected: wrong,
    }),
  ),
  {
    name: 'own 32: a password in the query is not read',
    run: async () => {
      const query = `username=admin&password=${encodeURIComponent(adminPassword)}`;
      const url = `/api/v1/auth/login?${query}&client_id=c&grant_type=password`;
      return refusalOf(await target.auth.call('POST', url, { body: {} }));
    },
    expected: invalid,
  },
  {
    name: 'own 33: neither password nor token stands in the audit of a login',
    run: async () => {
      await login({ username: 'victim', password: 'a-wrong-secret' });
      const { body } = await login({ username: 'victim', password: userPassword });
      const log = JSON.stringify(await auditEvents(target));
      const secrets = ['a-wrong-secret', userPassword, body.access_token, body.refresh_token];
      return secrets.filter((secret) => log.includes(secret)).length;
    },
    expected: 0,
  },
  {
    name: 'own 34: a disabled user, a wrong password and an unknown user read the same words',
    run: async () => {
      const { id, username } = await createVictim(target);
      await target.auth.call('PATCH', `/api/v1/auth/users/${id}`, {
        token: target.forge.good,
        body: { disabled: true },
      });
      const replies = [
        await login({ username, password: userPassword }),
        await login({ username: 'victim', password: 'x' }),
        await login({ username: 'nobody-at-all', password: 'x' }),
      ];
      return new Set(replies.map(({ body }) => JSON.stringify(body))).size;
    },
    expected: 1,
  },
  {
    name: 'own 65: a password alone does not pass a second factor, nor does a code seen before',
    run: async () => {
      const { username, shown } = await enroll();
      const form = { username, password: userPassword };
      const codes = [undefined, shown, '', '000000 or 1=1'];
      const replies = await Promise.all(codes.map((otp) => login({ ...form, otp })));
      return replies.map(({ status }) => [400, 401].includes(status));
    },
    expected: [true, true, true, true],
  },
  {
    name: 'own 68: guesses at the own password with a stolen token are counted by all replicas, and end for a while',
    run: async () => {
      const environment = { AUTH_LOGIN_ATTEMPTS: '3' };
      await using other = await startAuth(target.ground, { environment });
      const { username, accessToken } = await createVictim(target);
      const guess = (service: RunningAuth, currentPassword: string) =>
        service.call('POST', '/api/v1/auth/password', {
          token: accessToken,
          body: { currentPassword, newPassword: 'a password of the thief' },
        });
      const replies = [
        await guess(limited, 'a guess'),
        await guess(other, 'another guess'),
        await guess(limited, 'a third guess'),
        await guess(other, userPassword),
        await guess(limited, userPassword),
      ];
      const waits = replies.map(({ headers }) => Number(headers['retry-after'] ?? 0) > 0);
      return [
        replies.map(refusalOf),
        waits,
        (await login({ username, password: userPassword })).status,
      ];
    },
    expected: [
      [
        { status: 401, code: 'invalid_credentials' },
        { status: 401, code: 'invalid_credentials' },
        { status: 401, code: 'invalid_credentials' },
        { status: 429, code: 'rate_limit_exceeded' },
        { status: 429, code: 'rate_limit_exceeded' },
      ],
      [false, false, false, true, true],
      200,
    ],
  },
  {
    name: 'own 66: of four logins at once with one recovery code one succeeds, and none later',
    run: async () => {
      const { username, recoveryCodes } = await enroll();
      const form = { username, password: userPassword, otp: recoveryCodes[0] };
      // More than five tries at once would meet the limit of wrong codes instead.
      const replies = await Promise.all(Array.from({ length: 4 }, () => login(form)));
      const won = replies.filter(({ status }) => status === 200).length;
      return [won, (await login(form)).status];
    },
    expected: [1, 401],
  },
];

/** A user with a second factor, the code that put it in force, and the recovery codes. */
async function enroll() {
  const { username, accessToken: token } = await createVictim(target);
  const url = '/api/v1/auth/mfa/totp';
  const body = { password: userPassword };
  const { secret } = (await target.auth.call('POST', url, { token, body })).body;
  const shown = await generate({ secret });
  const enabled = await target.auth.call('POST', `${url}/verify`, { token, body: { code: shown } });
  const recoveryCodes: readonly string[] = enabled.body.recoveryCodes;
  return { username, shown, recoveryCodes };
}

test.each(cases)('$name', async ({ run, expected }) => {
  expect(await run()).toEqual(expected);
});
