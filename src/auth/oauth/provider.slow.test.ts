import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import {
  authorize,
  environmentOf,
  logIn,
  openIdConfig,
  openTrap,
  startProvider,
} from './testing.ts';
import type { TestProvider } from './testing.ts';

const lifetime = new Lifetime(silentLog);
let ground: Ground;
let gitlab: TestProvider;
let openId: TestProvider;
let auth: RunningAuth;
let replica: RunningAuth;
let admin: string;

beforeAll(async () => {
  [gitlab, openId] = await Promise.all([startProvider('gitlab'), startProvider('oidc-provider')]);
  lifetime.own('gitlab', gitlab);
  lifetime.own('the OpenID provider', openId);
  ground = lifetime.own('the ground', await openGround());
  const environment = environmentOf(gitlab);
  auth = lifetime.own('auth', await startAuth(ground, { environment }));
  replica = lifetime.own('the replica', await startAuth(ground, { environment }));
  admin = await auth.adminToken();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const configure = (provider: string, config: object, token = admin) =>
  auth.call('POST', '/api/v1/auth/oauth/configure', { token, body: { provider, config } });
const idpToken = (at: RunningAuth, token: string) =>
  at.call('GET', '/api/v1/auth/oauth/idp-token', { token });
const refreshWith = (refreshToken: string, provider = 'idp', at = auth) =>
  at.call('POST', '/api/v1/auth/oauth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken, provider },
  });

/** Leaves the provider's tokens of everybody a minute. */
const ageTokens = () =>
  ground.database.query(
    "update auth.identities set issued_at = now() - interval '2 hours', expires_at = now() + interval '1 minute'",
  );

describe('who comes through a provider', () => {
  test('is never taken for somebody of the same name or e-mail address', async () => {
    const { reply } = await logIn(auth, 'admin');
    expect(reply.body.user).toMatchObject({ username: 'admin-2', roles: ['user'] });
    await gitlab.control({ login: 'admin', email: 'dora@example.com', username: 'dora' });
    const first = await logIn(auth, 'dora');
    const second = await logIn(auth, 'admin');
    expect(second.reply.body.user.id).toBe(reply.body.user.id);
    expect(first.reply.body.user.id).not.toBe(reply.body.user.id);
    await gitlab.control({ login: 'finn', sub: 'first' });
    const before = await logIn(auth, 'finn');
    await gitlab.control({ login: 'finn', sub: 'second' });
    const after = await logIn(auth, 'finn');
    expect(after.reply.body.user.id).not.toBe(before.reply.body.user.id);
    expect(after.reply.body.user.username).toBe('finn-2');
  });

  test('is one user, however many logins come first at once', async () => {
    await gitlab.control({ login: 'finn', sub: 'third' });
    const logins = await Promise.all([auth, replica, auth, replica].map((at) => logIn(at, 'finn')));
    expect(logins.map(({ reply }) => reply.status)).toEqual([200, 200, 200, 200]);
    expect(new Set(logins.map(({ reply }) => reply.body.user.id)).size).toBe(1);
  });

  test('stays out when disabled here', async () => {
    const { reply } = await logIn(auth, 'erin');
    const url = `/api/v1/auth/users/${reply.body.user.id}`;
    await auth.call('PATCH', url, { token: admin, body: { disabled: true } });
    const refused = await logIn(auth, 'erin');
    expect([refused.reply.status, refused.reply.body.error.code]).toEqual([400, 'access_denied']);
    const { body } = await auth.call('GET', '/api/v1/auth/audit?eventType=login_failure', {
      token: admin,
    });
    expect(body.events[0]).toMatchObject({
      userId: reply.body.user.id,
      metadata: { provider: 'idp', reason: 'access_denied' },
    });
    await auth.call('PATCH', url, { token: admin, body: { disabled: false } });
  });

  test('keeps no more than the groups still give, and gains nothing until the next login', async () => {
    await gitlab.control({ login: 'dora', groups: ['developers', 'users'] });
    const { reply } = await logIn(auth, 'dora');
    expect(reply.body.user.roles).toEqual(['developer', 'user']);
    await gitlab.control({ login: 'dora', groups: ['users', 'administrators'] });
    const refreshed = await refreshWith(reply.body.refresh_token);
    const { body } = await auth.call('POST', '/api/v1/auth/validate', {
      body: { token: refreshed.body.access_token },
    });
    expect(body.payload.roles).toEqual(['user']);
    expect((await logIn(auth, 'dora')).reply.body.user.roles).toEqual(['admin', 'user']);
    await gitlab.control({ login: 'dora', groups: ['developers'] });
  });

  test('loses every role when the provider takes its grant back', async () => {
    const { reply } = await logIn(auth, 'finn');
    await gitlab.control({ revoke: 'finn' });
    const { body } = await auth.call('POST', '/api/v1/auth/oauth/token', {
      body: { grant_type: 'refresh_token', refresh_token: reply.body.refresh_token },
    });
    expect(body.scope).toBe('');
    const gone = await idpToken(auth, body.access_token);
    expect([gone.status, gone.body.error.details.reason]).toEqual([401, 'idp_login_required']);
    const before = await idpToken(auth, reply.body.access_token);
    expect([before.status, before.body.error.details.reason]).toEqual([401, 'token_revoked']);
  });
});

describe("the provider's own token", () => {
  test('is for login sessions of users who came through it', async () => {
    expect((await idpToken(auth, admin)).body.error.code).toBe('idp_token_not_found');
    const key = await auth.call('POST', '/api/v1/auth/api-keys', {
      token: admin,
      body: { name: 'k', service: 's', kind: 'user', permissions: ['agent:read'] },
    });
    const { body } = await auth.call('POST', '/api/v1/auth/api-key', {
      body: { api_key: key.body.api_key, client_id: 'test' },
    });
    const { reply } = await logIn(auth, 'dora');
    const narrow = await auth.call('POST', '/api/v1/auth/refresh', {
      body: {
        refresh_token: reply.body.refresh_token,
        grant_type: 'refresh_token',
        scope: 'mesh:communicate',
      },
    });
    for (const token of [body.access_token, narrow.body.access_token]) {
      const refused = await idpToken(auth, token);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'login_session_required']);
    }
  });

  test('is refreshed once for ten who ask two replicas', async () => {
    const { reply } = await logIn(auth, 'dora');
    const fresh = await idpToken(auth, reply.body.access_token);
    expect(fresh.body).toMatchObject({ token_type: 'Bearer', scope: expect.any(String) });
    expect(fresh.body.expires_in).toBeGreaterThan(7000);
    await ageTokens();
    await gitlab.control({ delayMs: 200 });
    const before = await gitlab.seen();
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        idpToken(at % 2 === 0 ? auth : replica, reply.body.access_token),
      ),
    );
    await gitlab.control({ delayMs: 0 });
    expect((await gitlab.seen()).refreshes - before.refreshes).toBe(1);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ body }) => body.access_token)).size).toBe(1);
    expect(replies[0]?.body.access_token).not.toBe(fresh.body.access_token);
  });

  test('asks for a new login once the provider has taken its grant back', async () => {
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ revoke: 'dora' });
    await ageTokens();
    for (const at of [auth, replica]) {
      const { status, body } = await idpToken(at, reply.body.access_token);
      expect([status, body.error.details.reason]).toEqual([401, 'idp_login_required']);
    }
    expect((await logIn(auth, 'dora')).reply.status).toBe(200);
    expect((await idpToken(auth, reply.body.access_token)).status).toBe(200);
  });

  test('comes with a refresh, from the provider that the user came through alone', async () => {
    const { reply } = await logIn(auth, 'dora');
    const wrong = await refreshWith(reply.body.refresh_token, 'openid');
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_grant']);
    const { body: log } = await auth.call('GET', '/api/v1/auth/audit?eventType=refresh_refused', {
      token: admin,
    });
    expect(log.events[0]).toMatchObject({
      userId: reply.body.user.id,
      metadata: { reason: 'wrong_provider' },
    });
    await ageTokens();
    const { status, body } = await refreshWith(reply.body.refresh_token);
    expect([status, body.token_type, body.expires_in]).toEqual([200, 'Bearer', 3600]);
    expect(body.idp_token.expires_in).toBeGreaterThan(7000);
    expect(body.idp_token.refresh_token).toEqual(expect.any(String));
  });

  test('is the next one after a refresh, however fresh the last one was', async () => {
    const { reply } = await logIn(auth, 'dora');
    const first = await idpToken(auth, reply.body.access_token);
    const { body } = await refreshWith(reply.body.refresh_token);
    expect(body.idp_token.access_token).not.toBe(first.body.access_token);
    const { status, body: stored } = await idpToken(replica, body.access_token);
    expect([status, stored.access_token]).toEqual([200, body.idp_token.access_token]);
  });

  test('is got once for ten refreshes at once on two replicas', async () => {
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ delayMs: 200 });
    const before = await gitlab.seen();
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        refreshWith(reply.body.refresh_token, 'idp', at % 2 === 0 ? auth : replica),
      ),
    );
    await gitlab.control({ delayMs: 0 });
    expect((await gitlab.seen()).refreshes - before.refreshes).toBe(1);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ body }) => body.idp_token.access_token)).size).toBe(1);
  });

  test('is got once for a refresh that comes while the user of another is read', async () => {
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ readingDelayMs: 500 });
    const before = await gitlab.seen();
    const first = refreshWith(reply.body.refresh_token);
    await expect
      .poll(async () => (await gitlab.seen()).readings, { timeout: 10_000 })
      .toBeGreaterThan(before.readings);
    const second = await refreshWith(reply.body.refresh_token, 'idp', replica);
    await gitlab.control({ readingDelayMs: 0 });
    expect((await gitlab.seen()).refreshes - before.refreshes).toBe(1);
    expect(second.body.idp_token.access_token).toBe((await first).body.idp_token.access_token);
    expect(second.body.refresh_token).toBe((await first).body.refresh_token);
  });

  test('is the same for a refresh that is repeated because its answer was lost', async () => {
    const { reply } = await logIn(auth, 'dora');
    const lost = await refreshWith(reply.body.refresh_token);
    const before = await gitlab.seen();
    const again = await refreshWith(reply.body.refresh_token, 'idp', replica);
    expect((await gitlab.seen()).refreshes).toBe(before.refreshes);
    expect([again.status, again.body.refresh_token]).toEqual([200, lost.body.refresh_token]);
    expect(again.body.idp_token.access_token).toBe(lost.body.idp_token.access_token);
    expect(again.body.idp_token.refresh_token).toBe(lost.body.idp_token.refresh_token);
  });

  test('that lives for five minutes is not taken for old when it is new', async () => {
    await gitlab.control({ tokenSeconds: 300 });
    const { reply } = await logIn(auth, 'dora');
    const before = await gitlab.seen();
    const { status } = await idpToken(auth, reply.body.access_token);
    await gitlab.control({ tokenSeconds: 7200 });
    expect([status, (await gitlab.seen()).refreshes - before.refreshes]).toEqual([200, 0]);
  });

  test('names no end where the provider names none', async () => {
    await gitlab.control({ tokenSeconds: 0 });
    const { reply } = await logIn(auth, 'dora');
    const { status, body } = await idpToken(auth, reply.body.access_token);
    const refreshed = await refreshWith(reply.body.refresh_token);
    await gitlab.control({ tokenSeconds: 7200 });
    expect([status, 'expires_in' in body]).toEqual([200, false]);
    expect([refreshed.status, 'expires_in' in refreshed.body.idp_token]).toEqual([200, false]);
  });

  test('is not taken from a refresh whose id_token names somebody else', async () => {
    await configure('open', openIdConfig(openId));
    const { reply } = await logIn(auth, 'carol', 'open');
    const { access_token, refresh_token } = reply.body;
    const { body: held } = await idpToken(auth, access_token);
    await openId.control({ login: 'carol', stated: '1001' });
    const refused = await refreshWith(refresh_token, 'open');
    await openId.control({ login: 'carol', stated: null });
    expect([refused.status, refused.body.error.code]).toEqual([502, 'provider_error']);
    expect((await idpToken(auth, access_token)).body.access_token).toBe(held.access_token);
  });

  test('has no refresh_token where the provider gave none, and stays good for its time', async () => {
    await gitlab.control({ withoutRefresh: true });
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ withoutRefresh: false });
    const { body } = await idpToken(auth, reply.body.access_token);
    expect(Object.keys(body).toSorted()).toEqual(
      ['access_token', 'created_at', 'expires_in', 'scope', 'token_type'].toSorted(),
    );
    const refreshed = await refreshWith(reply.body.refresh_token);
    expect(refreshed.status).toBe(200);
    expect(refreshed.body.idp_token).toEqual({
      access_token: body.access_token,
      expires_in: expect.any(Number),
    });
    await ground.database.query("update auth.identities set expires_at = now() - interval '1 s'");
    const expired = await refreshWith(refreshed.body.refresh_token);
    expect([expired.status, expired.body.error.code]).toEqual([400, 'invalid_grant']);
    expect(expired.body.error.details.reason).toBe('idp_login_required');
  });

  test('is sent nowhere else when the provider redirects, nor is its refresh_token', async () => {
    const { reply } = await logIn(auth, 'dora');
    await using trap = await openTrap();
    await gitlab.control({ redirectTo: trap.url });
    const { status, body } = await refreshWith(reply.body.refresh_token);
    await gitlab.control({ redirectTo: '' });
    expect([status, body.error.code]).toEqual([502, 'provider_error']);
    expect(trap.visits()).toBe(0);
  });

  test('lies sealed in the database', async () => {
    const { reply } = await logIn(auth, 'dora');
    const { body } = await idpToken(auth, reply.body.access_token);
    const rows = await ground.database.query<{ text: string }>(
      'select to_jsonb(i)::text as text from auth.identities i',
    );
    const stored = rows.map(({ text }) => text).join();
    expect(stored).not.toContain(body.access_token);
    expect(stored).not.toContain(body.refresh_token);
    expect(stored).toContain('key-1.');
  });
});

describe('configuring a provider', () => {
  test('is for administrators who hold all that groups give', async () => {
    const { reply } = await logIn(auth, 'dora');
    const refused = await configure('evil', openIdConfig(openId), reply.body.access_token);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_permissions']);
    const key = await auth.call('POST', '/api/v1/auth/api-keys', {
      token: admin,
      body: { name: 'a', service: 's', kind: 'service', permissions: ['auth:admin'] },
    });
    const { body } = await auth.call('POST', '/api/v1/auth/api-key', {
      body: { api_key: key.body.api_key, client_id: 'test' },
    });
    expect((await configure('evil', openIdConfig(openId), body.access_token)).status).toBe(403);
  });

  test.each([
    ['tokenURL', 'http://169.254.169.254/latest/meta-data'],
    ['userInfoURL', 'http://10.0.0.1/'],
    ['issuer', 'https://192.168.1.1/'],
    ['jwksURL', 'file:///etc/passwd'],
    ['tokenURL', 'http://user:password@provider.example/'],
    ['authorizationURL', 'javascript:alert(1)'],
    ['callbackURL', 'https://app.example/#fragment'],
    ['groupsURL', 'no address'],
    ['clientID', 'half \ud800'],
    ['clientSecret', 'two\nlines'],
  ])('refuses %s %j', async (name, value) => {
    const config = { ...openIdConfig(openId), [name]: value };
    const { status, body } = await configure('bad', config);
    expect([status, body.error.code]).toEqual([400, 'invalid_provider']);
    expect(body.error.details.param).toBe(`config.${name}`);
  });

  test('refuses metadata of another issuer, and an issuer without metadata', async () => {
    for (const issuer of [openId.url.replace('127.0.0.1', 'localhost'), gitlab.url]) {
      const { status, body } = await configure('bad', { ...openIdConfig(openId), issuer });
      expect([status, body.error.code]).toEqual([400, 'invalid_provider']);
    }
  });

  test('refuses plain HTTP in production', async () => {
    await using production = await startAuth(ground, { environment: { NODE_ENV: 'production' } });
    const { status, body } = await production.call('POST', '/api/v1/auth/oauth/configure', {
      token: admin,
      body: { provider: 'bad', config: openIdConfig(openId) },
    });
    expect([status, body.error.code]).toEqual([400, 'invalid_provider']);
  });

  test('is in force at once everywhere, outlives a restart and shows no secret', async () => {
    const config = { ...openIdConfig(openId), clientID: 'other-client' };
    const answer = await configure('idp', config);
    expect(answer.body).toEqual({
      provider: 'idp',
      configured: true,
      updatedAt: expect.any(String),
    });
    await using restarted = await startAuth(ground, { environment: environmentOf(gitlab) });
    for (const at of [auth, replica, restarted]) {
      const location = new URL(String((await authorize(at, {})).headers['location']));
      expect(location.searchParams.get('client_id')).toBe('other-client');
    }
    const listed = await auth.call('GET', '/api/v1/auth/oauth/providers', { token: admin });
    expect(listed.body.providers.map((one: { provider: string }) => one.provider)).toContain('idp');
    const rows = await ground.database.query(
      'select to_jsonb(p)::text from auth.oauth_providers p',
    );
    const audit = await auth.call('GET', '/api/v1/auth/audit?limit=100', { token: admin });
    const shown = JSON.stringify([answer.body, listed.body, rows, audit.body]);
    expect(shown).not.toContain(openId.clientSecret);
    expect(JSON.stringify(listed.body)).not.toContain('ecret');
  });

  test('ends with the provider, and `idp` falls back to the environment', async () => {
    const url = '/api/v1/auth/oauth/providers/idp';
    expect((await auth.call('DELETE', url, { token: admin })).body.deleted).toBe(true);
    const again = await auth.call('DELETE', url, { token: admin });
    expect([again.status, again.body.error.code]).toEqual([404, 'provider_not_found']);
    const location = String((await authorize(replica, {})).headers['location']);
    expect(location.startsWith(`${gitlab.url}/oauth/authorize?`)).toBe(true);
  });
});
