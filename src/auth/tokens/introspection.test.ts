import { decodeJwt } from 'jose';
import { allowInsecureRequests, customFetch, discovery } from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

const password = 'a good password';

let ground: Ground;
let auth: RunningAuth;
let admin: string;
let userId: string;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  admin = await auth.adminToken();
  const body = {
    username: 'una',
    password,
    email: 'una@example.com',
    name: 'Una',
    roles: ['user'],
  };
  userId = (await auth.call('POST', '/api/v1/auth/users', { token: admin, body })).body.id;
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

async function login(secret = password) {
  const { body } = await auth.login('una', secret);
  return { access: String(body.access_token), refresh: String(body.refresh_token) };
}

async function introspect(token: string) {
  const answer = await auth.call('POST', '/api/v1/auth/introspect', {
    token: admin,
    body: { token },
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('introspection', () => {
  test('is refused to strangers', async () => {
    const { access } = await login();
    const body = { token: access };
    expect((await auth.call('POST', '/api/v1/auth/introspect', { body })).status).toBe(401);
  });

  test('says of what is not good only that', async () => {
    const { access, refresh } = await login();
    for (const token of ['x', 'a.b.c', `${access}x`, `${refresh}x`]) {
      expect(await introspect(token)).toEqual({ active: false });
    }
    await auth.call('POST', '/api/v1/auth/revoke', { token: admin, body: { token: refresh } });
    expect(await introspect(access)).toEqual({ active: false });
    expect(await introspect(refresh)).toEqual({ active: false });
  });

  test('says of an access token what it states', async () => {
    const { access } = await login();
    const { exp, iat, nbf, jti, iss, aud } = decodeJwt(access);
    const permissions = ['agent:read', 'workflow:read'];
    expect(await introspect(access)).toEqual({
      active: true,
      scope: permissions.join(' '),
      client_id: 'test',
      username: 'una',
      token_type: 'Bearer',
      sub: userId,
      roles: ['user'],
      exp,
      iat,
      nbf,
      jti,
      iss,
      aud,
      permissions,
    });
  });

  test('finds a refresh token active until it is used', async () => {
    const { refresh } = await login();
    expect(await introspect(refresh)).toMatchObject({ active: true, sub: userId, username: 'una' });
    const body = { refresh_token: refresh, grant_type: 'refresh_token' };
    const next = await auth.call('POST', '/api/v1/auth/refresh', { body });
    expect(await introspect(refresh)).toEqual({ active: false });
    expect(await introspect(next.body.refresh_token)).toMatchObject({ active: true });
  });

  test('refreshing, revoking and introspecting read forms as standard clients send them', async () => {
    const { refresh } = await login();
    const send = (path: string, fields: Record<string, string>) =>
      auth.app.inject({
        method: 'POST',
        url: `/api/v1/auth/${path}`,
        headers: {
          authorization: `Bearer ${admin}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        payload: String(new URLSearchParams(fields)),
      });
    const grant = { grant_type: 'refresh_token', refresh_token: refresh };
    const token = String((await send('refresh', grant)).json().access_token);
    expect((await send('introspect', { token })).json().active).toBe(true);
    expect((await send('revoke', { token })).json().revoked).toBe(true);
    expect((await send('introspect', { token })).json()).toEqual({ active: false });
    expect((await send('login', { username: 'una', password })).statusCode).toBe(415);
    const refusals = [
      await send('refresh', { ...grant, refresh_token: 'nonsense' }),
      await send('refresh', { refresh_token: refresh }),
      await send('oauth/token', { ...grant, grant_type: 'password' }),
    ];
    const words = { error_description: expect.any(String) };
    expect(refusals.map((refusal) => [refusal.statusCode, refusal.json()])).toEqual([
      [400, { error: 'invalid_grant', ...words }],
      [400, { error: 'invalid_request', ...words }],
      [400, { error: 'unsupported_grant_type', ...words }],
    ]);
  });
});

describe('the metadata', () => {
  test.each(['oidc', 'oauth2'] as const)(
    'is accepted by a standard client (%s)',
    async (algorithm) => {
      const config = await discovery(new URL(auth.url), 'client', undefined, undefined, {
        algorithm,
        execute: [allowInsecureRequests],
        [customFetch]: async (url: string) => {
          const headers = { host: 'evil.example' };
          const { pathname } = new URL(url);
          const { payload, statusCode } = await auth.app.inject({ url: pathname, headers });
          const type = { 'content-type': 'application/json' };
          return new Response(payload, { status: statusCode, headers: type });
        },
      });
      const server = config.serverMetadata();
      expect(server).toMatchObject({
        issuer: auth.url,
        token_endpoint: `${auth.url}/api/v1/auth/oauth/token`,
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
      });
      expect(JSON.stringify(server)).not.toContain('evil.example');
    },
  );

  test('names only addresses that exist', async () => {
    const { body } = await auth.call('GET', '/.well-known/openid-configuration');
    const names = Object.keys(body).filter((name) => /_(endpoint|uri)$/.test(name));
    expect(names).toHaveLength(6);
    const paths = (await auth.call('GET', '/openapi.json')).body.paths;
    for (const name of names) expect(paths).toHaveProperty([new URL(body[name]).pathname]);
  });
});

test('userinfo says who the caller is', async () => {
  const { access } = await login();
  const url = '/api/v1/auth/userinfo';
  expect((await auth.call('GET', url)).status).toBe(401);
  expect((await auth.call('GET', url, { token: access })).body).toEqual({
    sub: userId,
    name: 'Una',
    email: 'una@example.com',
    preferred_username: 'una',
    roles: ['user'],
    permissions: ['agent:read', 'workflow:read'],
  });
});

describe('the own password', () => {
  const url = '/api/v1/auth/password';
  const next = 'another good password';

  test('is not changed without the present one, with a short one or with an API key', async () => {
    const { access } = await login();
    const change = (body: object, token = access) => auth.call('POST', url, { token, body });
    const wrong = await change({ currentPassword: 'wrong one', newPassword: next });
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'invalid_credentials']);
    expect((await change({ currentPassword: password, newPassword: 'short' })).status).toBe(400);
    const body = { name: 'k', service: 'k', permissions: ['agent:read'], userId };
    const key = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
    const byKey = { currentPassword: password, newPassword: next };
    expect((await change(byKey, key.body.api_key)).body.error.code).toBe('login_session_required');
    expect((await auth.login('una', password)).status).toBe(200);
  });

  test('once changed ends every other session, and is audited without it', async () => {
    const [here, there] = [await login(), await login()];
    const change = (token: string, currentPassword: string, newPassword: string) =>
      auth.call('POST', url, { token, body: { currentPassword, newPassword } });
    expect((await change(here.access, password, next)).body).toEqual({ changed: true });
    expect(await introspect(there.access)).toEqual({ active: false });
    expect(await introspect(here.access)).toMatchObject({ active: true });
    expect((await auth.login('una', password)).status).toBe(401);
    const query = '/api/v1/auth/audit?eventType=password_changed';
    const { body } = await auth.call('GET', query, { token: admin });
    expect(body.events).toHaveLength(1);
    expect(JSON.stringify(body.events)).not.toContain(next);
    expect((await change(here.access, next, password)).status).toBe(200);
  });
});

describe('a new user', () => {
  const create = (changes: object) => {
    const user = { username: 'x', password, email: 'x@example.com', name: 'X', roles: [] };
    const body = { ...user, ...changes };
    return auth.call('POST', '/api/v1/auth/users', { token: admin, body });
  };

  test.each(['аdmin', 'рaul', 'admιn', 'аdmin2'])('is not called %s', async (username) => {
    const { status, body } = await create({ username });
    expect([status, body.error.code]).toEqual([400, 'invalid_username']);
  });

  test.each(['', 'x', '@', 'x@', 'a b@example.com', 'a@b@c'])(
    'has no address %j',
    async (email) => {
      expect((await create({ email })).status).toBe(400);
    },
  );

  test.each(['анна', 'ελένη', '山田太郎', 'señor.ñ'])('may be called %s', async (username) => {
    expect((await create({ username })).status).toBe(201);
  });
});
