import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

const base = '/api/v1/auth';

let ground: Ground;
let auth: RunningAuth;
let admin: string;
let refreshToken: string;
/** Another for each test, as what comes from one address is summed. */
let ip: string;
let addresses = 0;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground, { environment: { AUTH_LOGIN_ATTEMPTS: '2' } });
  const { body } = await auth.login('admin', adminPassword);
  admin = body.access_token;
  refreshToken = body.refresh_token;
});

beforeEach(() => {
  addresses += 1;
  ip = `192.0.2.${addresses}`;
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function post(path: string, body: object) {
  return auth.call('POST', `${base}/${path}`, { body, ip });
}

/** What the log says of this test's address. */
async function events(eventType: string) {
  const query = `${base}/audit?limit=100&eventType=${eventType}`;
  const { body } = await auth.call('GET', query, { token: admin });
  const found = body.events as { ip: string; userId: string; metadata: Record<string, unknown> }[];
  return found.filter((event) => event.ip === ip);
}

const refreshOf = (refresh_token: string, more: object = {}) => ({
  refresh_token,
  grant_type: 'refresh_token',
  ...more,
});

test.each([
  ['a forged refresh token', 'refresh', () => refreshOf(`${refreshToken.slice(0, -8)}AAAAAAAA`)],
  ['text in place of one', 'refresh', () => refreshOf('x')],
  ['one for the tokens of a provider', 'oauth/refresh', () => refreshOf('x', { provider: 'idp' })],
  ['one at the token address', 'oauth/token', () => refreshOf('x')],
])('%s is audited, a flood of them as one', async (_what, path, body) => {
  for (let count = 0; count < 5; count += 1) expect((await post(path, body())).status).toBe(400);
  await vi.waitFor(async () => {
    expect(await events('refresh_refused')).toMatchObject([
      { userId: '', metadata: { provider: 'refresh-token', reason: 'token_invalid', count: 1 } },
    ]);
  });
});

test('a refresh that asks for more than was granted is audited', async () => {
  const user = { username: 'u', password: 'a good password', email: 'u@example.com', name: 'U' };
  const body = { ...user, roles: ['user'] };
  const { id } = (await auth.call('POST', `${base}/users`, { token: admin, body })).body;
  const { refresh_token } = (await auth.login('u', user.password)).body;
  expect((await post('refresh', refreshOf(refresh_token, { scope: 'auth:admin' }))).status).toBe(
    400,
  );
  expect(await events('refresh_refused')).toMatchObject([
    { userId: id, metadata: { reason: 'invalid_scope' } },
  ]);
});

test('an API key with a wrong checksum is audited, a flood of them as one', async () => {
  const api_key = `enn_${'0'.repeat(32)}_${'0'.repeat(64)}_00000000`;
  for (let count = 0; count < 3; count += 1) {
    expect((await post('api-key', { api_key, client_id: 'guess' })).status).toBe(401);
  }
  await vi.waitFor(async () => {
    expect(await events('api_key_login_failure')).toMatchObject([
      { clientId: 'guess', metadata: { reason: 'api_key_invalid', count: 1 } },
    ]);
  });
});

test('a forged token at validate is audited, a flood of them as one, and good ones never', async () => {
  expect((await post('validate', { token: admin })).body.valid).toBe(true);
  for (const token of ['x', 'a.b.c', `${admin.slice(0, -8)}AAAAAAAA`]) {
    expect((await post('validate', { token })).body.error).toBe('token_invalid');
  }
  await vi.waitFor(async () => {
    expect(await events('token_refused')).toMatchObject([
      { metadata: { provider: 'token', reason: 'token_invalid', count: 1 } },
    ]);
  });
});

test('a login that its limit refuses is audited, a flood of them as one', async () => {
  const body = { username: 'nobody', password: 'x', client_id: 'guess', grant_type: 'password' };
  const statuses = [];
  for (let count = 0; count < 6; count += 1) statuses.push((await post('login', body)).status);
  expect(statuses).toEqual([401, 401, 429, 429, 429, 429]);
  await vi.waitFor(async () => {
    const found = await events('login_failure');
    expect(found).toHaveLength(3);
    expect(found[0]).toMatchObject({
      clientId: 'guess',
      metadata: { username: 'nobody', reason: 'rate_limit_exceeded', count: 1 },
    });
  });
});

test('an act that its caller may not do is audited, a flood of them as one for each route', async () => {
  const user = { username: 'v', password: 'a good password', email: 'v@example.com', name: 'V' };
  const body = { ...user, roles: ['user'] };
  const { id } = (await auth.call('POST', `${base}/users`, { token: admin, body })).body;
  const token = (await auth.login('v', user.password)).body.access_token;
  for (const path of ['users', 'users', 'keys/rotate']) {
    const refused = await auth.call('POST', `${base}/${path}`, { token, ip, body });
    expect(refused.status).toBe(403);
  }
  await vi.waitFor(async () => {
    const found = await events('access_refused');
    const routes = found.map(({ userId, metadata }) => `${userId} ${String(metadata['route'])}`);
    expect(routes.toSorted()).toEqual([
      `${id} POST ${base}/keys/rotate`,
      `${id} POST ${base}/users`,
    ]);
    expect(found[0]?.metadata).toMatchObject({ reason: 'insufficient_permissions', count: 1 });
  });
});

test('a forged token in a header is audited, a flood of them as one, and an expired one never', async () => {
  const token = `${admin.slice(0, -8)}AAAAAAAA`;
  for (let count = 0; count < 3; count += 1) {
    expect((await auth.call('GET', `${base}/users`, { token, ip })).status).toBe(401);
  }
  expect((await auth.call('GET', `${base}/users`, { ip })).status).toBe(401);
  await vi.waitFor(async () => {
    expect(await events('token_refused')).toMatchObject([
      { metadata: { route: `GET ${base}/users`, reason: 'token_invalid', count: 1 } },
    ]);
  });
});

test('a password that is too long to be looked at is audited', async () => {
  const body = { username: 'admin', client_id: 'guess', grant_type: 'password' };
  const reply = await post('login', { ...body, password: '\u00e9'.repeat(600) });
  expect([reply.status, reply.body.error.code]).toEqual([400, 'password_too_long']);
  await vi.waitFor(async () => {
    expect(await events('login_failure')).toMatchObject([
      { clientId: 'guess', metadata: { username: 'admin', reason: 'password_too_long', count: 1 } },
    ]);
  });
});

test('a revoked token is audited at validate and in a header, apart from forged ones', async () => {
  const { access_token: token } = (await auth.login('admin', adminPassword)).body;
  await auth.call('POST', `${base}/revoke`, { token: admin, body: { token } });
  await post('validate', { token: 'x' });
  for (let count = 0; count < 3; count += 1) {
    expect((await post('validate', { token })).body.error).toBe('token_revoked');
    expect((await auth.call('GET', `${base}/users`, { token, ip })).status).toBe(401);
  }
  await vi.waitFor(async () => {
    const found = await events('token_refused');
    const reasons = found.map(({ metadata }) => [metadata['reason'], metadata['count']]);
    expect(reasons).toEqual([
      ['token_revoked', 1],
      ['token_invalid', 1],
    ]);
  });
});

test.each([
  ['an address that nobody registered', { redirect_uri: 'https://evil.example/' }],
  ['a provider that is none', { provider: 'unknown' }],
  ['a challenge that is no hash', { code_challenge: 'x', code_challenge_method: 'plain' }],
])('a login at a provider with %s is audited', async (_what, wrong) => {
  const config = {
    authorizationURL: 'https://idp.example/authorize',
    tokenURL: 'https://idp.example/token',
    userInfoURL: 'https://idp.example/userinfo',
    clientID: 'c',
    clientSecret: 's',
    callbackURL: 'https://ennead.example/callback',
  };
  const body = { provider: 'known', config };
  await auth.call('POST', `${base}/oauth/configure`, { token: admin, body });
  const query = new URLSearchParams({
    provider: 'known',
    redirect_uri: config.callbackURL,
    ...wrong,
  });
  const refused = await auth.call('GET', `${base}/oauth/authorize?${query.toString()}`, { ip });
  expect([400, 404]).toContain(refused.status);
  await vi.waitFor(async () => {
    expect(await events('authorization_refused')).toMatchObject([
      { metadata: { reason: refused.body.error.code, count: 1 } },
    ]);
  });
});
