import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

let ground: Ground;
let auth: RunningAuth;
let admin: string;
/** Holds auth:admin and what a user holds, but not `*`. */
let clerk: string;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  admin = await auth.adminToken();
  const body = {
    name: 'clerk',
    service: 'clerk',
    permissions: ['auth:admin', 'agent:read', 'workflow:read'],
  };
  const key = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
  clerk = key.body.api_key;
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const url = '/api/v1/auth/users';
const password = 'a good password';

function newUser(changes: Record<string, unknown> = {}) {
  const username = `user${Math.random().toString(36).slice(2)}`;
  return { username, password, email: 'u@example.com', name: 'U', roles: ['user'], ...changes };
}

async function createUser(changes: Record<string, unknown> = {}) {
  const body = newUser(changes);
  const { status, body: user } = await auth.call('POST', url, { token: admin, body });
  expect(status).toBe(201);
  const { body: tokens } = await auth.login(body.username, password);
  return { id: user.id as string, user, username: body.username, tokens };
}

async function refreshStatus(refresh_token: string): Promise<number> {
  const body = { refresh_token, grant_type: 'refresh_token' };
  return (await auth.call('POST', '/api/v1/auth/refresh', { body })).status;
}

async function readAudit(query: string) {
  return (await auth.call('GET', `/api/v1/auth/audit?${query}`, { token: admin })).body;
}

async function lastEvent() {
  return (await readAudit('limit=1')).events[0];
}

describe('a change of a user', () => {
  const smuggled: [string, unknown][] = [
    ['id', 'usr_other'],
    ['username_key', 'nobody-knows'],
    ['password_hash', 'x'],
    ['created_at', '2000-01-01T00:00:00Z'],
    ['permissions', ['*']],
    ['foo', 1],
  ];
  test.each(smuggled)('ignores the field %s, which it does not know', async (name, value) => {
    const { id, user, username } = await createUser();
    const body = { name: 'New', [name]: value };
    const changed = await auth.call('PATCH', `${url}/${id}`, { token: admin, body });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ id, name: 'New', createdAt: user.createdAt });
    expect(decodeJwt((await auth.login(username, password)).body.access_token).sub).toBe(id);
  });
});

test('the character U+0000 is refused wherever it stands', async () => {
  expect((await auth.login('a\u0000b', 'x')).status).toBe(400);
  const body = newUser({ name: 'a\u0000b' });
  expect((await auth.call('POST', url, { token: admin, body })).status).toBe(400);
  expect((await auth.call('GET', `${url}/%00`, { token: admin })).status).toBe(400);
  const audit = '/api/v1/auth/audit?userId=%00';
  expect((await auth.call('GET', audit, { token: admin })).status).toBe(400);
});

test('half a character is refused in a name, which would be stored as another', async () => {
  const create = (name: string) =>
    auth.call('POST', url, { token: admin, body: newUser({ name }) });
  expect((await create('a\ud800b')).body.error.details.errors).toEqual([
    { path: 'body.name', message: 'must be a name of whole characters' },
  ]);
  expect((await create('a 😀')).body.name).toBe('a 😀');
  const key = { name: '\udc00', service: 'reports', permissions: [] };
  const made = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body: key });
  expect(made.status).toBe(400);
});

test('a time that does not exist is refused', async () => {
  const audit = '/api/v1/auth/audit?since=9999-12-31T23:59:60Z';
  expect((await auth.call('GET', audit, { token: admin })).status).toBe(400);
});

describe('the administration of users', () => {
  test.each([
    ['GET', url],
    ['POST', url],
    ['GET', `${url}/usr_x`],
    ['PATCH', `${url}/usr_x`],
    ['DELETE', `${url}/usr_x`],
    ['GET', '/api/v1/auth/api-keys'],
    ['POST', '/api/v1/auth/api-keys'],
    ['GET', '/api/v1/auth/api-keys/key_x'],
    ['DELETE', '/api/v1/auth/api-keys/key_x'],
    ['POST', '/api/v1/auth/api-keys/key_x/rotate'],
    ['GET', '/api/v1/auth/audit'],
  ] as const)('refuses strangers and those without auth:admin at %s %s', async (method, path) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const stranger = await auth.call(method, path, { body });
    expect([stranger.status, stranger.body.error.code]).toEqual([401, 'invalid_token']);
    const { tokens } = await createUser({ roles: ['developer'] });
    const developer = await auth.call(method, path, { body, token: tokens.access_token });
    expect(developer.status).toBe(403);
    expect(developer.body.error).toMatchObject({
      type: 'authorization_error',
      code: 'insufficient_permissions',
      details: {
        required: 'auth:admin',
        userPermissions: ['agent:execute', 'mesh:communicate', 'workflow:create'],
      },
    });
  });

  test.each([
    ['a taken name', { username: 'admin' }, 409, 'username_taken'],
    ['a taken name in other letters', { username: 'ＡＤＭＩＮ' }, 409, 'username_taken'],
    ['a name with a zero-width character', { username: 'ad\u200Bmin' }, 400, 'invalid_username'],
    ['a name that turns the text around', { username: 'a\u202Enimda' }, 400, 'invalid_username'],
    ['a name with a blank', { username: 'ad min' }, 400, 'invalid_username'],
    ['a name with a dotted capital I', { username: 'admİn' }, 400, 'invalid_username'],
    ['a short password', { password: 'short' }, 400, 'validation_error'],
    ['a password too long to hash', { password: 'x'.repeat(1025) }, 400, 'password_too_long'],
    ['a role that does not exist', { roles: ['root'] }, 400, 'unknown_role'],
    ['no roles', { roles: undefined }, 400, 'validation_error'],
  ])('creates nobody with %s', async (...[, changes, status, code]) => {
    const reply = await auth.call('POST', url, { token: admin, body: newUser(changes) });
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
    expect(reply.body.error.type).toBe('invalid_request_error');
  });

  test.each(['', 'nobody', 'a b@example.com', '@', 'a@b@c'])(
    'says in words that %j is no email address',
    async (email) => {
      const body = newUser({ email });
      const { status, body: answer } = await auth.call('POST', url, { token: admin, body });
      expect(status).toBe(400);
      expect(answer.error.message).toBe('body.email must be an email address');
      expect(answer.error.details.errors).toEqual([
        { path: 'body.email', message: 'must be an email address' },
      ]);
    },
  );

  test('cannot give or take what the administrator does not hold', async () => {
    const created = await auth.call('POST', url, {
      token: clerk,
      body: newUser({ roles: ['admin'] }),
    });
    expect(created.status).toBe(403);
    expect(created.body.error.details.required).toBe('*');
    const { id } = await createUser({ roles: ['user'] });
    const raised = await auth.call('PATCH', `${url}/${id}`, {
      token: clerk,
      body: { roles: ['developer'] },
    });
    expect(raised.status).toBe(403);
    const mighty = decodeJwt(admin).sub;
    for (const body of [
      { password: 'another password' },
      { disabled: true },
      { email: 'x@example.com' },
    ]) {
      expect((await auth.call('PATCH', `${url}/${mighty}`, { token: clerk, body })).status).toBe(
        403,
      );
    }
    expect((await auth.call('DELETE', `${url}/${mighty}`, { token: clerk })).status).toBe(403);
    expect((await auth.login('admin', adminPassword)).status).toBe(200);
  });

  test('gives what the administrator holds', async () => {
    const { status, body } = await auth.call('POST', url, { token: clerk, body: newUser() });
    expect(status).toBe(201);
    const renamed = await auth.call('PATCH', `${url}/${body.id}`, {
      token: clerk,
      body: { name: 'V' },
    });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'V']);
  });

  test('keeps the last administrator with a password, whoever comes through a provider', async () => {
    const other = await createUser({ username: 'federated', roles: ['admin'] });
    await ground.database.query(
      "update auth.users set password_hash = null, provider = 'idp' where id = $1",
      [other.id],
    );
    const own = `${url}/${decodeJwt(admin).sub}`;
    const reply = await auth.call('DELETE', own, { token: admin });
    expect([reply.status, reply.body.error.code]).toEqual([409, 'last_administrator']);
    await ground.database.query('delete from auth.users where id = $1', [other.id]);
  });

  test.each([
    ['PATCH', { disabled: true }],
    ['PATCH', { roles: ['user'] }],
    ['DELETE', undefined],
  ] as const)('keeps the last administrator: %s %j', async (method, body) => {
    const path = `${url}/${decodeJwt(admin).sub}`;
    const reply = await auth.call(method, path, { token: admin, body });
    expect([reply.status, reply.body.error.code]).toEqual([409, 'last_administrator']);
    expect(await auth.validity(admin)).toBe('valid');
    expect((await auth.login('admin', adminPassword)).status).toBe(200);
  });

  test.each(['GET', 'PATCH', 'DELETE'] as const)(
    'answers 404 to %s of an unknown user',
    async (method) => {
      const body = method === 'PATCH' ? {} : undefined;
      const reply = await auth.call(method, `${url}/usr_unknown`, { token: admin, body });
      expect([reply.status, reply.body.error.code]).toEqual([404, 'user_not_found']);
    },
  );
});

describe('a user', () => {
  test('is shown without the password or its hash', async () => {
    const { id, user, username } = await createUser();
    const { body } = await auth.call('GET', `${url}/${id}`, { token: admin });
    expect(body).toEqual({ ...user, lastLoginAt: expect.any(String) });
    expect(Object.keys(user).toSorted()).toEqual([
      'createdAt',
      'disabled',
      'email',
      'id',
      'name',
      'roles',
      'updatedAt',
      'username',
    ]);
    expect(body).toMatchObject({ username, disabled: false, roles: ['user'] });
  });

  test('is listed, the newest first, page by page', async () => {
    const first = await createUser();
    const second = await createUser();
    const { body } = await auth.call('GET', `${url}?limit=2`, { token: admin });
    expect(body.users.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(body).toMatchObject({ limit: 2, offset: 0 });
    expect(body.total).toBeGreaterThan(2);
    const next = await auth.call('GET', `${url}?limit=1&offset=1`, { token: admin });
    expect(next.body.users[0].id).toBe(first.id);
    expect((await auth.call('GET', `${url}?limit=101`, { token: admin })).status).toBe(400);
  });

  test('is found by name in any spelling, and nobody else is', async () => {
    const { id, username } = await createUser();
    const find = async (name: string) => {
      const query = new URLSearchParams({ username: name }).toString();
      return (await auth.call('GET', `${url}?${query}`, { token: admin })).body;
    };
    for (const name of [username, username.toUpperCase(), ` ${username}`]) {
      expect(await find(name)).toMatchObject({ users: [{ id }], total: 1, limit: 20, offset: 0 });
    }
    for (const name of [username.slice(0, -1), `${username}%`, '%', "' or true --"]) {
      expect(await find(name)).toMatchObject({ users: [], total: 0 });
    }
    expect((await auth.call('GET', `${url}?username=`, { token: admin })).status).toBe(400);
  });

  test('who is disabled loses every token at once, and gets new ones only when enabled', async () => {
    const { id, username, tokens } = await createUser();
    expect(await auth.validity(tokens.access_token)).toBe('valid');
    const patch = (disabled: boolean) =>
      auth.call('PATCH', `${url}/${id}`, { token: admin, body: { disabled } });
    expect((await patch(true)).body.disabled).toBe(true);
    expect(await auth.validity(tokens.access_token)).toBe('token_revoked');
    expect(await refreshStatus(tokens.refresh_token)).toBe(400);
    expect((await auth.login(username, password)).status).toBe(401);
    await patch(false);
    expect(await auth.validity(tokens.access_token)).toBe('token_revoked');
    expect(await refreshStatus(tokens.refresh_token)).toBe(400);
    const again = await auth.login(username, password);
    expect(await auth.validity(again.body.access_token)).toBe('valid');
  });

  test('who gets a new password loses every session and logs in with the new one', async () => {
    const { id, username, tokens } = await createUser();
    const body = { password: 'a better password' };
    await auth.call('PATCH', `${url}/${id}`, { token: admin, body });
    expect(await auth.validity(tokens.access_token)).toBe('token_revoked');
    expect((await auth.login(username, password)).status).toBe(401);
    const again = await auth.login(username, body.password);
    expect(await auth.validity(again.body.access_token)).toBe('valid');
    expect(JSON.stringify(await lastEvent())).not.toContain(body.password);
  });

  test('who loses a role loses it in every token, those of API keys too, and keeps the session', async () => {
    const { id, tokens } = await createUser({ roles: ['developer', 'user'] });
    const key = { name: 'k', service: 'cli', permissions: ['*'], userId: id };
    const made = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body: key });
    const held = async (token: string) => {
      const { status, body } = await auth.call('GET', '/api/v1/auth/userinfo', { token });
      return status === 200 ? body.permissions : status;
    };
    const patch = (roles: string[]) =>
      auth.call('PATCH', `${url}/${id}`, { token: admin, body: { roles } });
    expect(await held(made.body.api_key)).toContain('agent:execute');
    await patch(['developer']);
    expect(await auth.validity(tokens.access_token)).toBe('token_revoked');
    await patch(['user']);
    expect(await held(made.body.api_key)).toEqual(['agent:read', 'workflow:read']);
    const form = { refresh_token: tokens.refresh_token, grant_type: 'refresh_token' };
    const { body } = await auth.call('POST', '/api/v1/auth/refresh', { body: form });
    expect(await held(body.access_token)).toEqual(['agent:read', 'workflow:read']);
    await patch(['user', 'developer']);
    expect(await auth.validity(body.access_token)).toBe('valid');
  });

  test('who is deleted is gone with tokens, sessions and keys', async () => {
    const { id, username, tokens } = await createUser();
    const body = { name: 'k', service: 'cli', permissions: ['agent:read'], userId: id };
    const key = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
    const { status, body: answer } = await auth.call('DELETE', `${url}/${id}`, { token: admin });
    expect([status, answer]).toEqual([200, { id, deleted: true }]);
    expect(await auth.validity(tokens.access_token)).toBe('token_revoked');
    expect(await refreshStatus(tokens.refresh_token)).toBe(400);
    expect((await auth.login(username, password)).status).toBe(401);
    const exchange = await auth.call('POST', '/api/v1/auth/api-key', {
      body: { api_key: key.body.api_key, client_id: 'c' },
    });
    expect(exchange.status).toBe(401);
  });
});

describe('the audit log', () => {
  test('tells who did what to whom', async () => {
    const { id, username } = await createUser();
    await auth.call('DELETE', `${url}/${id}`, {
      token: admin,
      headers: { 'user-agent': 'console/1' },
    });
    expect(await lastEvent()).toEqual({
      eventType: 'user_deleted',
      userId: decodeJwt(admin).sub,
      timestamp: expect.any(String),
      ip: '127.0.0.1',
      userAgent: 'console/1',
      clientId: 'test',
      metadata: {
        mfa: false,
        provider: 'token',
        targetUserId: id,
        username,
        roles: ['user'],
        disabled: false,
      },
    });
  });

  test('is filtered by event, user, client and time', async () => {
    const { id } = await createUser();
    const logins = await readAudit(`eventType=login_success&userId=${id}&clientId=test`);
    expect(logins).toMatchObject({ total: 1, limit: 20, offset: 0 });
    const at = encodeURIComponent(logins.events[0].timestamp);
    expect((await readAudit(`userId=${id}&since=${at}&until=${at}`)).total).toBe(1);
    expect((await readAudit(`userId=${id}&until=2020-01-01T00:00:00Z`)).total).toBe(0);
    const day = logins.events[0].timestamp.slice(0, 10);
    expect((await readAudit(`userId=${id}&since=${day}&until=${day}`)).total).toBeGreaterThan(0);
    expect((await readAudit(`userId=${id}&eventType=login_failure`)).total).toBe(0);
  });

  test('that cannot be written stops administration and logins', async () => {
    const { id } = await createUser();
    await ground.database.query('alter table auth.audit rename to audit_away');
    try {
      expect((await auth.call('DELETE', `${url}/${id}`, { token: admin })).status).toBe(500);
      expect((await auth.login('admin', adminPassword)).status).toBe(500);
    } finally {
      await ground.database.query('alter table auth.audit_away rename to audit');
    }
    expect((await auth.call('GET', `${url}/${id}`, { token: admin })).status).toBe(200);
  });
});
