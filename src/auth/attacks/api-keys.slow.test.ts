import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { crc32 } from 'node:zlib';
import { startAuth, type RunningAuth } from '../testing.ts';
import { decode } from './forge.ts';
import {
  auditEvents,
  createVictim,
  expectHealthy,
  openTarget,
  recordStatements,
  refusalOf,
  verdictsOf,
  type AttackCase,
  type Target,
  type Victim,
} from './testing.ts';

let target: Target;
let victim: Victim;
/** The text and id of a key that may read agents. */
let key: { readonly text: string; readonly id: string };
/** The access token that it was traded for, and that of a key that may administer and little else. */
let keyToken: string;
let stewardToken: string;

beforeAll(async () => {
  target = await openTarget();
  victim = await createVictim(target);
  key = await createKey({ permissions: ['agent:read'] });
  keyToken = (await trade(key.text)).body.access_token;
  const steward = await createKey({ permissions: ['auth:admin', 'agent:read'] });
  stewardToken = (await trade(steward.text)).body.access_token;
});
afterEach(() => expectHealthy(target));
afterAll(() => target[Symbol.asyncDispose]());

const keysUrl = '/api/v1/auth/api-keys';

function send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: unknown) {
  return { by: (token: string) => target.auth.call(method, url, { token, body }) };
}

async function createKey(more: object): Promise<{ text: string; id: string }> {
  const form = { name: 'test', service: 'robot', permissions: [], ...more };
  const { body } = await send('POST', keysUrl, form).by(target.forge.good);
  return { text: body.api_key, id: body.id };
}

function trade(api_key: unknown, more: object = {}, service: RunningAuth = target.auth) {
  const body = { api_key, client_id: 'c', ...more };
  return service.call('POST', '/api/v1/auth/api-key', { body });
}

/** The same key with one part replaced and the checksum made right again. */
function respell(
  change: (id: string, secret: string) => readonly [string, string],
  text = key.text,
): string {
  const [, id = '', secret = ''] = text.split('_');
  const body = change(id, secret).join('_');
  return `enn_${body}_${crc32(body).toString(16).padStart(8, '0')}`;
}

const wrong = { status: 401, code: 'invalid_api_key' };
const forbidden = { status: 403, code: 'insufficient_permissions' };

const cases: readonly AttackCase[] = [
  ...[
    ['another secret', () => respell((id) => [id, 'f'.repeat(64)])],
    ['another id', () => respell((_, secret) => ['0'.repeat(32), secret])],
    ['a wrong checksum', () => `${key.text.slice(0, -8)}00000000`],
    ['its prefix alone', () => key.text.slice(0, 36)],
    ['capitals', () => key.text.toUpperCase()],
    ['a blank behind it', () => `${key.text} `],
    ['a line end behind it', () => `${key.text}\n`],
    ['a full-width letter', () => key.text.replace('e', 'ｅ')],
    ['an access token in its place', () => target.forge.good.slice(0, 512)],
    ['a refresh token in its place', () => victim.refreshToken.slice(0, 512)],
  ].map(([what, text]) => ({
    name: `D28: a key with ${String(what)} gives one and the same refusal`,
    run: async () => {
      const { body } = await trade((text as () => string)());
      return body.error;
    },
    expected: {
      type: 'authentication_error',
      code: 'invalid_api_key',
      message: 'the API key is not valid',
      details: { reason: 'api_key_invalid' },
    },
  })),
  {
    name: 'D28: an id that nobody has asks the database for the same as a wrong secret, and never with a secret',
    run: async () => {
      const { ground, statements } = recordStatements(target.ground);
      await using replica = await startAuth(ground);
      const own = await createKey({ permissions: ['agent:read'], userId: victim.id });
      const rotated = await createKey({ permissions: [] });
      await send('POST', `${keysUrl}/${rotated.id}/rotate`, {}).by(target.forge.good);
      const secret = 'f'.repeat(64);
      const wrongSecret = (text: string) => respell((id) => [id, secret], text);
      const attempts = [
        respell((_, right) => ['0'.repeat(32), right]),
        ...[key.text, own.text, rotated.text].map(wrongSecret),
      ];
      const asked = new Set<string>();
      let isSecretSent = false;
      for (const text of attempts) {
        statements.length = 0;
        const reply = await trade(text, {}, replica);
        expect(refusalOf(reply)).toEqual(wrong);
        const sent = JSON.stringify(statements);
        isSecretSent ||= sent.includes(text.split('_')[2] ?? '');
        const lookUps = statements.filter(({ sql }) => /"(api_keys|users)"/.test(sql));
        asked.add(lookUps.map(({ sql }) => sql).join('; '));
      }
      return [[...asked], isSecretSent];
    },
    expected: [['select * from "auth"."api_keys" where "id" = $1'], false],
  },
  ...[
    ['creates no key', () => send('POST', keysUrl, { name: 'x', service: 'x', permissions: [] })],
    ['lists no keys', () => send('GET', keysUrl)],
    ['rotates no key, not even itself', () => send('POST', `${keysUrl}/${key.id}/rotate`, {})],
    ['ends no key', () => send('DELETE', `${keysUrl}/${key.id}`)],
    [
      'changes no password',
      () => send('PATCH', `/api/v1/auth/users/${victim.id}`, { password: 'new password' }),
    ],
    ['reads no audit', () => send('GET', '/api/v1/auth/audit')],
    ['reads no user', () => send('GET', `/api/v1/auth/users/${victim.id}`)],
    ['reads no revocations', () => send('GET', '/api/v1/auth/revocations')],
  ].map(([what, call]) => ({
    name: `D29: a key without auth:admin ${String(what)}`,
    run: async () => refusalOf(await (call as () => ReturnType<typeof send>)().by(keyToken)),
    expected: forbidden,
  })),
  ...[['*'], ['auth:*'], ['agent:*'], ['agent:read', 'mesh:communicate'], ['suite:peer']].map(
    (permissions) => ({
      name: `D29: a key that administers cannot issue ${permissions.join(' and ')}, which it lacks`,
      run: async () => {
        const form = { name: 'x', service: 'x', permissions };
        return refusalOf(await send('POST', keysUrl, form).by(stewardToken));
      },
      expected: forbidden,
    }),
  ),
  {
    name: 'D29: not even who holds everything issues a key of the suite’s own services',
    run: async () => {
      const form = { name: 'x', service: 'x', permissions: ['suite:peer'] };
      const made = await send('POST', keysUrl, form).by(target.forge.good);
      return refusalOf(made);
    },
    expected: forbidden,
  },
  {
    name: 'D29: a key that administers cannot make the key of a mightier user',
    run: async () => {
      const userId = decode(target.forge.good, 1)['sub'];
      const form = { name: 'x', service: 'x', permissions: ['agent:read'], userId };
      return refusalOf(await send('POST', keysUrl, form).by(stewardToken));
    },
    expected: forbidden,
  },
  ...[
    ['give a mightier user a password', { password: 'new password' }],
    ['disable a mightier user', { disabled: true }],
  ].map(([what, body]) => ({
    name: `D29: a key that administers cannot ${what as string}`,
    run: async () => {
      const url = `/api/v1/auth/users/${String(decode(target.forge.good, 1)['sub'])}`;
      return refusalOf(await send('PATCH', url, body).by(stewardToken));
    },
    expected: forbidden,
  })),
  {
    name: 'D29: a key that administers cannot make itself an administrator with all rights',
    run: async () => {
      const form = {
        username: 'own',
        password: 'a good password',
        email: 'a@example.com',
        name: 'A',
        roles: ['admin'],
      };
      return refusalOf(await send('POST', '/api/v1/auth/users', form).by(stewardToken));
    },
    expected: forbidden,
  },
  {
    name: 'D29: the names of other fields set no owner, no kind and no id',
    run: async () => {
      const wishes = {
        id: 'key_x',
        kind: 'user',
        ownerId: 'usr_x',
        owner_id: 'usr_x',
        user_id: victim.id,
      };
      const form = { name: 'x', service: 'x', permissions: [], ...wishes };
      const { body } = await send('POST', keysUrl, form).by(target.forge.good);
      return [body.id === 'key_x', body.kind, body.ownerId === decode(target.forge.good, 1)['sub']];
    },
    expected: [false, 'service', true],
  },
  {
    name: 'D30: a key is shown once: no listing, audit or row of the database holds it',
    run: async () => {
      const { good } = target.forge;
      const secret = key.text.split('_')[2] ?? '';
      const rows = await target.ground.database.query('select t::text from auth.api_keys t');
      const places = [
        (await send('GET', keysUrl).by(good)).body,
        (await send('GET', `${keysUrl}/${key.id}`).by(good)).body,
        await auditEvents(target),
        rows,
      ].map((place) => JSON.stringify(place));
      return [places.filter((place) => place.includes(secret)).length, places[3]?.includes(key.id)];
    },
    expected: [0, true],
  },
  {
    name: 'own 35: the token of a key ends with the key',
    run: async () => {
      const doomed = await createKey({ permissions: ['agent:read'] });
      const { body } = await trade(doomed.text);
      const before = (await verdictsOf(target, body.access_token)).validate;
      await send('DELETE', `${keysUrl}/${doomed.id}`).by(target.forge.good);
      const after = (await verdictsOf(target, body.access_token)).validate;
      return [before, after, refusalOf(await trade(doomed.text))];
    },
    expected: ['valid', 'token_revoked', wrong],
  },
  {
    name: 'own 36: a key cannot be refreshed, nor sent in place of a token to refresh',
    run: async () => {
      const { body } = await trade(key.text);
      const form = { refresh_token: key.text, grant_type: 'refresh_token' };
      const refreshed = await target.auth.call('POST', '/api/v1/auth/refresh', { body: form });
      return ['refresh_token' in body, refusalOf(refreshed)];
    },
    expected: [false, { status: 400, code: 'invalid_grant' }],
  },
  {
    name: 'own 37: a key whose user was disabled gives no token',
    run: async () => {
      const { id } = await createVictim(target);
      const own = await createKey({ permissions: ['agent:read'], userId: id });
      const before = (await trade(own.text)).status;
      await send('PATCH', `/api/v1/auth/users/${id}`, { disabled: true }).by(target.forge.good);
      return [before, refusalOf(await trade(own.text))];
    },
    expected: [200, wrong],
  },
  {
    name: 'own 38: the key of a user never permits what the user lacks',
    run: async () => {
      const own = await createKey({ permissions: ['*'], userId: victim.id });
      return (await trade(own.text)).body.permissions;
    },
    expected: ['agent:read', 'workflow:read'],
  },
  {
    name: 'own 39: the old secret is dead at once when a key is rotated without overlap',
    run: async () => {
      const old = await createKey({ permissions: [] });
      const url = `${keysUrl}/${old.id}/rotate`;
      const { body } = await send('POST', url, { overlapSeconds: 0 }).by(target.forge.good);
      return [refusalOf(await trade(old.text)), (await trade(body.api_key)).status];
    },
    expected: [wrong, 200],
  },
  {
    name: 'own 40: an expired key gives no token',
    run: async () => {
      const { id, text } = await createKey({ permissions: [], expiresInDays: 1 });
      await target.ground.database.query(
        `update auth.api_keys set expires_at = now() - interval '1 second' where id = $1`,
        [id],
      );
      return refusalOf(await trade(text));
    },
    expected: wrong,
  },
  {
    name: 'own 41: permissions, service and subject in a trade are not heard',
    run: async () => {
      const wishes = { permissions: ['*'], service: 'auth', scope: '*', sub: 'usr_admin' };
      const { body } = await trade(key.text, wishes);
      const { sub, permissions } = decode(body.access_token, 1);
      return [sub, permissions, body.service];
    },
    expected: ['robot', ['agent:read'], 'robot'],
  },
  ...[7, null, [], { $ne: '' }, ''].map((value) => ({
    name: `own 42: ${JSON.stringify(value)} in place of a key is a bad request`,
    run: async () => refusalOf(await trade(value)),
    expected: { status: 400, code: 'validation_error' },
  })),
  ...[['*:*'], ['Auth:admin'], ['auth:admin '], ['auth'], ['a:b:c'], ['']].map((permissions) => ({
    name: `own 43: ${JSON.stringify(permissions[0])} is no permission that a key could have`,
    run: async () => {
      const form = { name: 'x', service: 'x', permissions };
      return refusalOf(await send('POST', keysUrl, form).by(target.forge.good));
    },
    expected: { status: 400, code: 'validation_error' },
  })),
  ...['../users', '..%2Fusers', "x' or '1'='1", 'key_', '__proto__'].map((id) => ({
    name: `own 44: the id ${id} names no key`,
    run: async () => {
      const url = `${keysUrl}/${encodeURIComponent(id)}`;
      return refusalOf(await send('GET', url).by(target.forge.good)).status;
    },
    expected: 404,
  })),
];

test.each(cases)('$name', async ({ run, expected }) => {
  expect(await run()).toEqual(expected);
});
