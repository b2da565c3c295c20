import { crc32 } from 'node:zlib';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { formatApiKey, parseApiKey } from './api-key-text.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

let ground: Ground;
let auth: RunningAuth;
let admin: string;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  admin = await auth.adminToken();
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const url = '/api/v1/auth/api-keys';
const wanted = { name: 'ci', service: 'deploy', permissions: ['workflow:read', 'agent:read'] };

async function createKey(changes: Record<string, unknown> = {}) {
  const { status, body } = await auth.call('POST', url, {
    token: admin,
    body: { ...wanted, ...changes },
  });
  expect(status).toBe(201);
  return body as { id: string; api_key: string; prefix: string; expiresAt: string };
}

async function createUser(roles: string[]) {
  const username = `user${Math.random().toString(36).slice(2)}`;
  const body = { username, password: 'a good password', email: 'u@example.com', name: 'U', roles };
  return (await auth.call('POST', '/api/v1/auth/users', { token: admin, body })).body as {
    id: string;
  };
}

function exchange(api_key: string, client_id = 'ci') {
  return auth.call('POST', '/api/v1/auth/api-key', { body: { api_key, client_id } });
}

async function expectRefusal(text: string, reason: string): Promise<void> {
  const { status, body, headers } = await exchange(text);
  expect(status).toBe(401);
  expect(body.error).toEqual({
    type: 'authentication_error',
    code: 'invalid_api_key',
    message: 'the API key is not valid',
    details: { reason },
  });
  expect(headers['cache-control']).toBe('no-store');
}

function rotate(id: string, body?: object) {
  return auth.call('POST', `${url}/${id}/rotate`, { token: admin, body });
}

describe('the text of a key', () => {
  const key = { id: `key_${'0a'.repeat(16)}`, secret: '1b'.repeat(32) };

  test('is its id, its secret and a checksum of both', () => {
    const text = formatApiKey(key);
    expect(text).toMatch(/^enn_(0a){16}_(1b){32}_[0-9a-f]{8}$/);
    expect(parseApiKey(text)).toEqual(key);
  });

  test('with any one character changed is none of ours', () => {
    const text = formatApiKey(key);
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === '2' ? '3' : '2';
      expect(parseApiKey(text.slice(0, at) + other + text.slice(at + 1))).toBeUndefined();
    }
    expect(parseApiKey(`${text} `)).toBeUndefined();
    expect(parseApiKey('')).toBeUndefined();
  });
});

describe('a key that is no good', () => {
  test('with a wrong checksum is refused without asking the database', async () => {
    const { api_key } = await createKey();
    await ground.database.query('alter table auth.api_keys rename to api_keys_away');
    try {
      await expectRefusal(
        `${api_key.slice(0, -1)}${api_key.endsWith('0') ? '1' : '0'}`,
        'api_key_invalid',
      );
      await expectRefusal('enn_../../x', 'api_key_invalid');
    } finally {
      await ground.database.query('alter table auth.api_keys_away rename to api_keys');
    }
  });

  test('because its secret is another or its id unknown says the same', async () => {
    const { api_key } = await createKey();
    const { id } = parseApiKey(api_key)!;
    await expectRefusal(formatApiKey({ id, secret: 'ab'.repeat(32) }), 'api_key_invalid');
    const unknown = { id: `key_${'0'.repeat(32)}`, secret: 'ab'.repeat(32) };
    await expectRefusal(formatApiKey(unknown), 'api_key_invalid');
  });

  test('because it was revoked ends its tokens too', async () => {
    const { id, api_key } = await createKey();
    const token = (await exchange(api_key)).body.access_token;
    expect(await auth.validity(token)).toBe('valid');
    const { status, body } = await auth.call('DELETE', `${url}/${id}`, { token: admin });
    expect([status, body.id]).toEqual([200, id]);
    expect(body.revokedAt).toEqual(expect.any(String));
    expect(await auth.validity(token)).toBe('token_revoked');
    await expectRefusal(api_key, 'api_key_revoked');
    const again = await auth.call('DELETE', `${url}/${id}`, { token: admin });
    expect(again.body).toEqual(body);
  });

  test('because it expired is refused, and no token outlives its key', async () => {
    const { id, api_key } = await createKey({ expiresInDays: 1 });
    expect((await exchange(api_key)).body.expires_in).toBe(3600);
    await ground.database.query(
      "update auth.api_keys set expires_at = now() + interval '60 s' where id = $1",
      [id],
    );
    const { body } = await exchange(api_key);
    expect(body.expires_in).toBeLessThanOrEqual(60);
    const { exp = 0, iat = 0 } = decodeJwt(body.access_token);
    expect(exp - iat).toBe(body.expires_in);
    await ground.database.query('update auth.api_keys set expires_at = now() where id = $1', [id]);
    await expectRefusal(api_key, 'api_key_expired');
    const rotation = await auth.call('POST', `${url}/${id}/rotate`, { token: admin });
    expect([rotation.status, rotation.body.error.code]).toEqual([409, 'api_key_ended']);
  });

  test('because its user is disabled is good again with the user', async () => {
    const { id: userId } = await createUser(['user']);
    const { api_key } = await createKey({ userId });
    const patch = (disabled: boolean) =>
      auth.call('PATCH', `/api/v1/auth/users/${userId}`, { token: admin, body: { disabled } });
    const before = (await exchange(api_key)).body.access_token;
    await patch(true);
    expect(await auth.validity(before)).toBe('token_revoked');
    await expectRefusal(api_key, 'user_disabled');
    await patch(false);
    expect((await exchange(api_key)).status).toBe(200);
  });

  test('gives tokens that count, and end again, also when its user comes and goes within a second', async () => {
    const { id: userId } = await createUser(['user']);
    const { api_key } = await createKey({ userId });
    const patch = (disabled: boolean) =>
      auth.call('PATCH', `/api/v1/auth/users/${userId}`, { token: admin, body: { disabled } });
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
    try {
      await patch(true);
      await patch(false);
      const { status, body } = await exchange(api_key);
      expect([status, await auth.validity(body.access_token)]).toEqual([200, 'valid']);
      await patch(true);
      expect(await auth.validity(body.access_token)).toBe('token_revoked');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('creating a key', () => {
  test.each([
    ['a permission of another form', { permissions: ['everything'] }, 400, 'validation_error'],
    ['a service with capitals', { service: 'CI' }, 400, 'validation_error'],
    ['no name', { name: '' }, 400, 'validation_error'],
    ['a user who does not exist', { userId: 'usr_x' }, 400, 'user_not_found'],
  ])('is refused for %s', async (...[, changes, status, code]) => {
    const reply = await auth.call('POST', url, { token: admin, body: { ...wanted, ...changes } });
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
  });

  test('is refused beyond what the creator holds, be it for itself or for a mightier user', async () => {
    const clerk = await createKey({ permissions: ['auth:admin', 'agent:read'] });
    const create = (changes: object) =>
      auth.call('POST', url, {
        token: clerk.api_key,
        body: { ...wanted, permissions: ['agent:read'], ...changes },
      });
    const wider = await create({ permissions: ['agent:read', 'agent:execute'] });
    expect([wider.status, wider.body.error.details.required]).toEqual([403, 'agent:execute']);
    expect((await create({ permissions: ['*'] })).status).toBe(403);
    expect((await create({ userId: decodeJwt(admin).sub })).status).toBe(403);
    const mighty = await createKey({ permissions: ['*'] });
    const rotation = await auth.call('POST', `${url}/${mighty.id}/rotate`, {
      token: clerk.api_key,
    });
    expect(rotation.status).toBe(403);
    expect((await create({})).status).toBe(201);
  });

  test('shows the key once, and only its hash is stored', async () => {
    const { api_key, ...shown } = await createKey({ expiresInDays: 7 });
    const { id, secret } = parseApiKey(api_key)!;
    expect(api_key.endsWith(crc32(api_key.slice(4, -9)).toString(16).padStart(8, '0'))).toBe(true);
    expect(shown).toMatchObject({
      ...wanted,
      id,
      kind: 'service',
      permissions: ['agent:read', 'workflow:read'],
    });
    expect(api_key.startsWith(shown.prefix)).toBe(true);
    const read = await auth.call('GET', `${url}/${id}`, { token: admin });
    expect(read.body).toEqual(shown);
    const list = await auth.call('GET', `${url}?limit=1`, { token: admin });
    expect(list.body.apiKeys).toEqual([shown]);
    expect(list.body.total).toBeGreaterThan(0);
    const created = '/api/v1/auth/audit?limit=1&eventType=api_key_created';
    const audit = await auth.call('GET', created, { token: admin });
    expect(audit.body.events[0]).toMatchObject({ metadata: { keyId: id } });
    const rows = await ground.database.query<{ dump: string }>(
      'select k::text as dump from auth.api_keys k union all select a::text from auth.audit a',
    );
    const everything = JSON.stringify([rows, read, list, audit]);
    expect(everything).toContain(id);
    expect(everything).not.toContain(secret);
  });
});

describe('a good key', () => {
  test('is traded for the token of its service', async () => {
    const { id, api_key } = await createKey();
    const { status, body, headers } = await exchange(api_key);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    const { access_token, ...rest } = body;
    expect(rest).toEqual({
      token_type: 'Bearer',
      expires_in: 3600,
      service: 'deploy',
      permissions: ['agent:read', 'workflow:read'],
    });
    const claims = decodeJwt(access_token);
    expect(claims).toMatchObject({
      sub: 'deploy',
      sid: expect.stringMatching(`^${id}\\.[0-9a-f]{16}$`),
      client_id: 'ci',
      roles: [],
      permissions: rest.permissions,
      scope: 'agent:read workflow:read',
    });
    expect(claims).not.toHaveProperty('user');
    expect(await auth.validity(access_token)).toBe('valid');
  });

  test('of a user speaks as the user, with what both may', async () => {
    const { id: userId } = await createUser(['user']);
    const { api_key } = await createKey({ userId, permissions: ['agent:read', 'registry:write'] });
    const { body } = await exchange(api_key);
    expect(body.permissions).toEqual(['agent:read']);
    expect(decodeJwt(body.access_token)).toMatchObject({
      sub: userId,
      roles: ['user'],
      user: { id: userId, email: 'u@example.com', name: 'U' },
    });
    const all = await createKey({ userId, permissions: ['*'] });
    expect((await exchange(all.api_key)).body.permissions).toEqual(['agent:read', 'workflow:read']);
  });

  test('opens a route in either header', async () => {
    const { api_key } = await createKey({ permissions: ['auth:admin'] });
    expect((await auth.call('GET', url, { token: api_key })).status).toBe(200);
    expect((await auth.call('GET', url, { headers: { 'x-api-key': api_key } })).status).toBe(200);
  });

  test('shows when it was last used', async () => {
    await using other = await startAuth(ground);
    const { id, api_key } = await createKey();
    const body = { api_key, client_id: 'ci' };
    await Promise.all([1, 2, 3].map(() => other.call('POST', '/api/v1/auth/api-key', { body })));
    await other[Symbol.asyncDispose]();
    const read = await auth.call('GET', `${url}/${id}`, { token: admin });
    expect(Date.now() - Date.parse(read.body.lastUsedAt)).toBeLessThan(60_000);
  });
});

describe('rotating a key', () => {
  const validate = async (token: string) =>
    (await auth.call('POST', '/api/v1/auth/validate', { body: { token } })).body;

  test('that is unknown answers 404', async () => {
    const { status, body } = await rotate('key_unknown');
    expect([status, body.error.code]).toEqual([404, 'api_key_not_found']);
  });

  test('keeps the old secret good for a day', async () => {
    const { id, api_key } = await createKey();
    const { status, body } = await rotate(id);
    expect(status).toBe(200);
    expect(Date.parse(body.previousExpiresAt) - Date.now()).toBeGreaterThan(86_000_000);
    expect((await exchange(api_key)).status).toBe(200);
    expect((await exchange(body.api_key)).status).toBe(200);
    await ground.database.query(
      `update auth.api_keys
       set former_secrets = jsonb_set(former_secrets, '{0,expiresAt}', to_jsonb($2::text))
       where id = $1`,
      [id, new Date().toISOString()],
    );
    expect((await exchange(api_key)).status).toBe(401);
    expect((await exchange(body.api_key)).status).toBe(200);
  });

  test('without an overlap ends the old secret and its tokens at once', async () => {
    const { id, api_key } = await createKey();
    const old = (await exchange(api_key)).body.access_token;
    const { body } = await rotate(id, { overlapSeconds: 0 });
    expect((await exchange(api_key)).status).toBe(401);
    expect((await validate(old)).error).toBe('token_revoked');
    const { access_token } = (await exchange(body.api_key)).body;
    expect((await validate(access_token)).valid).toBe(true);
  });

  test('keeps the tokens of the old secret for the overlap, and none for longer', async () => {
    const { id, api_key } = await createKey();
    const before = (await exchange(api_key)).body;
    await rotate(id, { overlapSeconds: 100 });
    expect((await validate(before.access_token)).valid).toBe(true);
    expect((await exchange(api_key)).body.expires_in).toBeLessThanOrEqual(100);
  });

  test('ends the old secret with the overlap, whoever has traded it before, and after a start too', async () => {
    const { id, api_key } = await createKey();
    const old = (await exchange(api_key)).body.access_token;
    const status = async (token: string, by = auth) =>
      (await by.call('GET', '/api/v1/auth/userinfo', { token })).status;
    expect(await status(api_key)).toBe(200);
    const { body } = await rotate(id, { overlapSeconds: 100 });
    const end = Date.parse(body.previousExpiresAt);
    vi.useFakeTimers({ now: end - 1, toFake: ['Date'] });
    try {
      expect([await status(api_key), await status(old)]).toEqual([200, 200]);
      vi.setSystemTime(end + 999);
      expect([await status(api_key), await status(old)]).toEqual([401, 401]);
      expect(await status(body.api_key)).toBe(200);
      await using other = await startAuth(ground);
      expect([await status(api_key, other), await status(old, other)]).toEqual([401, 401]);
      expect(await status(body.api_key, other)).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  test('again keeps what was promised of the secrets before, until a rotation without an overlap', async () => {
    const { id, api_key } = await createKey();
    const first = (await rotate(id)).body;
    const second = (await rotate(id, { overlapSeconds: 100 })).body;
    expect(second.previousExpiresAt).toBe(first.previousExpiresAt);
    const all = [api_key, first.api_key, second.api_key];
    for (const key of all) expect((await exchange(key)).status).toBe(200);
    expect((await exchange(first.api_key)).body.expires_in).toBeLessThanOrEqual(100);
    const tokens = await Promise.all(all.map(async (key) => (await exchange(key)).body));
    const last = (await rotate(id, { overlapSeconds: 0 })).body.api_key;
    for (const key of all) expect((await exchange(key)).status).toBe(401);
    for (const { access_token: token } of tokens)
      expect((await validate(token)).error).toBe('token_revoked');
    expect((await exchange(last)).status).toBe(200);
  });

  test('is refused while eight old secrets are good', async () => {
    const { id, api_key } = await createKey();
    const rotations = await Promise.all(Array.from({ length: 10 }, () => rotate(id)));
    const taken = rotations.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(8);
    const refused = rotations.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.body.error.code]).toEqual([409, 'too_many_secrets']);
    for (const key of [api_key, ...taken.map(({ body }) => body.api_key)])
      expect((await exchange(key)).status).toBe(200);
  });

  test('tells of no old secret that outlives its key', async () => {
    const { id, expiresAt } = await createKey({ expiresInDays: 1 });
    const { body } = await rotate(id, { overlapSeconds: 30 * 86_400 });
    expect(body.previousExpiresAt).toBe(expiresAt);
  });
});
