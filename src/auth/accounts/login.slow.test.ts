import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

let ground: Ground;
let auth: RunningAuth;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  const token = await auth.adminToken();
  for (const [username, disabled] of [
    ['mallory', true],
    ['Ûser', false],
  ] as const) {
    const body = {
      username,
      password: 'a good password',
      email: 'u@example.com',
      name: username,
      roles: ['user'],
    };
    const { body: user } = await auth.call('POST', '/api/v1/auth/users', { token, body });
    await auth.call('PATCH', `/api/v1/auth/users/${user.id}`, { token, body: { disabled } });
  }
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const form = {
  username: 'admin',
  password: adminPassword,
  client_id: 'console',
  grant_type: 'password',
};

function post(body: unknown, ip = '127.0.0.1', service = auth) {
  return service.call('POST', '/api/v1/auth/login', { body, ip });
}

describe('a refused login', () => {
  test.each([
    ['an unknown user', { username: 'nobody' }],
    ['a wrong password', { password: 'wrong' }],
    [
      'a disabled user with the right password',
      { username: 'mallory', password: 'a good password' },
    ],
    ['a name with a Cyrillic letter', { username: 'аdmin' }],
    ['a name with a zero-width character', { username: 'ad\u200Bmin' }],
    ['a password with a suffix', { password: `${adminPassword}x` }],
  ])('answers the same for %s', async (_, change) => {
    const { status, body, headers } = await post({ ...form, ...change });
    expect(status).toBe(401);
    expect(body).toEqual({
      error: {
        type: 'authentication_error',
        code: 'invalid_credentials',
        message: 'wrong username or password',
        details: { reason: 'invalid_credentials' },
      },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test.each([
    ['an empty password', { password: '' }, 'validation_error'],
    ['no client', { client_id: '' }, 'validation_error'],
    [
      'a password of a megabyte less a bit',
      { password: 'x'.repeat(1_000_000) },
      'password_too_long',
    ],
    ['a password of 1,025 bytes', { password: `${'é'.repeat(512)}x` }, 'password_too_long'],
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ])('is a bad request for %s', async (_, change, code) => {
    const { status, body, headers } = await post({ ...form, ...change });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('is no server error when the body is not JSON or of another type', async () => {
    const url = '/api/v1/auth/login';
    const text = await auth.app.inject({
      method: 'POST',
      url,
      payload: 'a=b',
      headers: { 'content-type': 'text/plain' },
    });
    expect(text.statusCode).toBe(415);
    const broken = await auth.app.inject({
      method: 'POST',
      url,
      payload: '{"a":NaN}',
      headers: { 'content-type': 'application/json' },
    });
    expect(broken.statusCode).toBe(400);
    expect(broken.json().error.type).toBe('invalid_request_error');
  });

  test('is impossible where password logins are turned off', async () => {
    await using off = await startAuth(ground, { environment: { AUTH_PASSWORD_LOGIN: 'off' } });
    const { status, body } = await post(form, '127.0.0.1', off);
    expect(status).toBe(400);
    expect(body.error.code).toBe('unsupported_grant_type');
  });
});

describe('too many logins', () => {
  test('of one user are refused from every address and in every spelling', async () => {
    await using limited = await startAuth(ground, {
      environment: { AUTH_LOGIN_ATTEMPTS: '3', AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: '3' },
    });
    const spellings = ['admin', ' ADMIN ', 'ａｄｍｉｎ'];
    for (const [at, username] of spellings.entries()) {
      const reply = await post({ ...form, username }, `10.0.0.${at}`, limited);
      expect(reply.status).toBe(200);
      expect(reply.headers['x-ratelimit-limit']).toBe('3');
      expect(reply.headers['x-ratelimit-remaining']).toBe(String(2 - at));
    }
    const { status, body, headers } = await post(
      { ...form, username: 'Admin' },
      '10.0.0.9',
      limited,
    );
    expect(status).toBe(429);
    expect(body.error).toMatchObject({ type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1000);
  });

  test('from one address, or one /64 of IPv6, are refused for every user', async () => {
    const environment = { AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: '2' };
    await using limited = await startAuth(ground, { environment });
    const statuses = [];
    for (const [at, ip] of ['2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:0:1::3'].entries()) {
      statuses.push((await post({ ...form, username: `u${at}` }, ip, limited)).status);
    }
    expect(statuses).toEqual([401, 401, 429]);
    expect((await post(form, '2001:db8:0:1::1', limited)).status).toBe(200);
  });

  test('do not count API-key logins', async () => {
    await using limited = await startAuth(ground, { environment: { AUTH_LOGIN_ATTEMPTS: '1' } });
    const body = { api_key: 'enn_x', client_id: 'c' };
    for (let count = 0; count < 3; count += 1) {
      expect((await limited.call('POST', '/api/v1/auth/api-key', { body })).status).toBe(401);
    }
    expect((await post(form, '127.0.0.1', limited)).status).toBe(200);
  });

  test('at once wait in a bounded queue while others are answered', async () => {
    const logins = Array.from({ length: 200 }, (_, at) =>
      post({ ...form, username: `crowd${at}` }, `10.1.0.${at}`),
    );
    const validation = auth.call('POST', '/api/v1/auth/validate', { body: { token: 'x' } });
    const first = await Promise.race([validation, Promise.all(logins)]);
    expect(first).toMatchObject({ status: 200, body: { valid: false } });
    const replies = await Promise.all(logins);
    const refused = replies.filter(({ status }) => status === 503);
    expect(replies.filter(({ status }) => status === 401).length + refused.length).toBe(200);
    expect(refused.length).toBeGreaterThanOrEqual(50);
    expect(refused[0]?.headers['retry-after']).toBe('2');
    expect(refused[0]?.body.error).toMatchObject({ type: 'api_error', code: 'login_queue_full' });
    expect((await post(form)).status).toBe(200);
  });
});

describe('a login', () => {
  test('answers the tokens and claims of the interface', async () => {
    const { status, body, headers } = await post(form);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(
      ['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type'].toSorted(),
    );
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: '*' });
    expect(headers['cache-control']).toBe('no-store');
    const header = JSON.parse(Buffer.from(body.access_token.split('.')[0], 'base64url').toString());
    const keys = await auth.call('GET', '/.well-known/jwks.json');
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: keys.body.keys[0].kid });
    const { body: validity } = await auth.call('POST', '/api/v1/auth/validate', {
      body: { token: body.access_token },
    });
    const { payload } = validity;
    expect(validity.valid).toBe(true);
    expect(payload).toMatchObject({
      iss: auth.url,
      aud: ['ennead'],
      scope: '*',
      roles: ['admin'],
      permissions: ['*'],
      client_id: 'console',
      token_use: 'access',
      user: { id: payload.sub, email: '', name: 'Administrator' },
    });
    expect(payload.exp - payload.iat).toBe(3600);
    expect(payload.nbf).toBe(payload.iat);
    expect(payload.sub).toMatch(/^usr_/);
    expect(payload.jti).toMatch(/^tok_/);
    expect(payload.sid).toMatch(/^ses_/);
  });

  test('finds a user whatever the case and Unicode form of the name', async () => {
    const password = 'a good password';
    for (const username of ['Ûser', 'ûser', 'U\u0302SER']) {
      const { body } = await post({ ...form, username, password });
      expect(body.scope).toBe('agent:read workflow:read');
    }
  });

  test('and its failure are in the audit log, cleaned, and without the password', async () => {
    const username = `evil\u001B[31m\n${'x'.repeat(900)}`;
    await auth.call('POST', '/api/v1/auth/login', {
      body: { ...form, username, password: 'hunter2-secret' },
      headers: { 'user-agent': `agent\u0085${'y'.repeat(2000)}` },
    });
    const token = (await post(form)).body.access_token;
    const { body } = await auth.call('GET', '/api/v1/auth/audit?limit=2', { token });
    const [success, failure] = body.events;
    expect(success).toMatchObject({
      eventType: 'login_success',
      clientId: 'console',
      ip: '127.0.0.1',
      metadata: { mfa: false, provider: 'password', username: 'admin' },
    });
    expect(failure).toMatchObject({ eventType: 'login_failure', userId: '' });
    expect(failure.metadata.username).toMatch(/^evil\\u\{1b\}\[31m\\u\{a\}x+$/);
    expect(failure.metadata.username).toHaveLength(256);
    expect(failure.userAgent).toHaveLength(256);
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });
});

describe('a login that cannot be recorded', () => {
  test('is refused and opens no session', async () => {
    const count = async () => {
      const rows = await ground.database.query<{ count: number }>(
        `select (select count(*) from auth.sessions)::int as count`,
      );
      return rows[0]?.count;
    };
    const before = await count();
    await ground.database.query('alter table auth.audit_head rename to audit_head_away');
    const refused = await post(form);
    await ground.database.query('alter table auth.audit_head_away rename to audit_head');
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect(refused.body.access_token).toBeUndefined();
    expect(await count()).toBe(before);
    expect((await post(form)).status).toBe(200);
    expect(await count()).toBe((before ?? 0) + 1);
  });
});

describe('the key set', () => {
  test('holds public keys only, is cached and can be revalidated', async () => {
    const { body, headers } = await auth.call('GET', '/.well-known/jwks.json');
    expect(Object.keys(body.keys[0]).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    expect(headers['cache-control']).toBe('public, max-age=300');
    const again = await auth.call('GET', '/.well-known/jwks.json', {
      headers: { 'if-none-match': String(headers['etag']) },
    });
    expect(again.status).toBe(304);
    expect(again.body).toBeUndefined();
  });
});

test.each(['/api/v1/health', '/health'])('the health at %s is measured and public', async (url) => {
  const { status, body } = await auth.call('GET', url);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'healthy',
    version: '1.0.0',
    uptime: 0,
    database: 'healthy',
    signingKeys: 2,
  });
});
