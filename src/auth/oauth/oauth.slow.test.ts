import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import {
  authorize,
  environmentOf,
  exchange,
  logIn,
  newVerifier,
  openIdConfig,
  openTrap,
  startProvider,
  visit,
  type TestProvider,
} from './testing.ts';

/** As `test/identity-providers/gitlab.mjs` registers it. */
const gitlabCallback = 'http://127.0.0.1:9/gitlab';
const extra = 'http://127.0.0.1:9/other';
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
  const environment = { ...environmentOf(gitlab), AUTH_REDIRECT_URIS: `${extra}, ${extra}/` };
  auth = lifetime.own('auth', await startAuth(ground, { environment }));
  replica = lifetime.own('the replica', await startAuth(ground, { environment }));
  admin = await auth.adminToken();
  const configured = await auth.call('POST', '/api/v1/auth/oauth/configure', {
    token: admin,
    body: { provider: 'openid', config: openIdConfig(openId) },
  });
  expect(configured.body).toMatchObject({ provider: 'openid', configured: true });
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const s256 = (challenge: string) => ({
  code_challenge: challenge,
  code_challenge_method: 'S256',
});

/** A code of this user, with what goes with it. */
async function codeFor(login: string, query: Readonly<Record<string, string>> = {}) {
  const { verifier, challenge } = newVerifier();
  const begun = await authorize(auth, { ...s256(challenge), ...query });
  const back = await visit(String(begun.headers['location']), login);
  return { verifier, code: back['code'] ?? '', back };
}

describe('authorize', () => {
  test.each([
    ['plain', { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }],
    ['a challenge without a method', { code_challenge: 'a'.repeat(43) }],
    ['a method without a challenge', { code_challenge_method: 'S256' }],
    ['a short challenge', s256('a'.repeat(42))],
    ['a challenge that is no base64url', s256(`${'a'.repeat(42)}+`)],
  ])('refuses %s', async (_name, query) => {
    const { status, body, headers } = await authorize(auth, query);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(headers['location']).toBeUndefined();
  });

  test.each([
    'http://127.0.0.1:9/other/more',
    'http://127.0.0.1:9/Other',
    'http://127.0.0.1/other',
    'https://127.0.0.1:9/other',
    'http://127.0.0.1:9/other?a=b',
    'http://127.0.0.1:9/other#',
    'http://localhost:9/other',
    'https://evil.example/',
    'javascript:alert(1)',
  ])('sends nobody to %s, which is not registered to the letter', async (redirect_uri) => {
    const { status, body, headers } = await authorize(auth, { redirect_uri });
    expect([status, body.error.code]).toEqual([400, 'redirect_uri_mismatch']);
    expect(headers['location']).toBeUndefined();
  });

  test('tells a provider that it does not know from one that is not configured', async () => {
    const unknown = await authorize(auth, { provider: 'other' });
    expect([unknown.status, unknown.body.error.code]).toEqual([400, 'unknown_provider']);
    await using other = await startAuth(ground);
    const absent = await authorize(other, {});
    expect([absent.status, absent.body.error.code]).toEqual([400, 'provider_not_configured']);
  });

  test('refuses parameters that come twice', async () => {
    const twice = await auth.call('GET', '/api/v1/auth/oauth/authorize?state=a&state=b');
    expect(twice.status).toBe(400);
  });

  test('accepts no loopback address in production', async () => {
    const environment = { ...environmentOf(gitlab), NODE_ENV: 'production' };
    await using production = await startAuth(ground, { environment });
    const { status, body } = await authorize(production, {});
    expect([status, body.error.code]).toEqual([400, 'redirect_uri_mismatch']);
  });

  test('sends the browser to the provider with the challenge of the caller', async () => {
    const { challenge } = newVerifier();
    const state = 'a b\r\nset-cookie: x=y';
    const { status, headers } = await auth.call(
      'GET',
      `/api/v1/auth/oauth/authorize?${new URLSearchParams({
        ...s256(challenge),
        redirect_uri: extra,
        scope: 'openid read_user',
        state,
        provider: 'idp',
      }).toString()}`,
      { headers: { host: 'evil.example' } },
    );
    const location = new URL(String(headers['location']));
    expect(status).toBe(302);
    expect(location.origin + location.pathname).toBe(`${gitlab.url}/oauth/authorize`);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      client_id: gitlab.clientId,
      redirect_uri: extra,
      response_type: 'code',
      scope: 'openid read_user',
      state,
      ...s256(challenge),
    });
    expect(headers['set-cookie']).toBeUndefined();
  });

  test('lets a page be reloaded, but no challenge stand for another login', async () => {
    const { challenge } = newVerifier();
    const query = { ...s256(challenge), state: 's', nonce: 'n' };
    const [first, again] = [await authorize(auth, query), await authorize(auth, query)];
    expect([first.status, again.status]).toEqual([302, 302]);
    const other = await authorize(auth, { ...query, redirect_uri: extra });
    expect([other.status, other.body.error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('the exchange', () => {
  test('refuses another verifier, and the right one afterwards still counts', async () => {
    const { code, verifier } = await codeFor('dora');
    const wrong = await exchange(auth, { code, code_verifier: newVerifier().verifier });
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_grant']);
    expect((await exchange(auth, { code, code_verifier: verifier })).status).toBe(200);
  });

  test('refuses a code of another login: the provider binds it to the challenge', async () => {
    const [mine, stolen] = [await codeFor('dora'), await codeFor('erin')];
    const { status, body } = await exchange(auth, {
      code: stolen.code,
      code_verifier: mine.verifier,
    });
    expect([status, body.error.code]).toEqual([400, 'invalid_grant']);
  });

  test('wants the redirect_uri that the login began with, to the letter', async () => {
    const login = await codeFor('dora', { redirect_uri: gitlab.callback });
    const body = { code: login.code, code_verifier: login.verifier };
    for (const fields of [{}, { redirect_uri: extra }, { redirect_uri: `${gitlab.callback}/` }]) {
      const refused = await exchange(auth, { ...body, ...fields });
      expect([refused.status, refused.body.error.code]).toEqual([400, 'redirect_uri_mismatch']);
    }
    const taken = await exchange(auth, { ...body, redirect_uri: gitlab.callback });
    expect(taken.status).toBe(200);
  });

  test.each([
    ['none', {}],
    ['the registered one', { redirect_uri: gitlabCallback }],
  ])('takes %s where the login named no redirect_uri', async (_name, fields) => {
    const { code, verifier } = await codeFor('dora');
    const body = { code, code_verifier: verifier, client_id: 'web' };
    expect((await exchange(auth, { ...body, ...fields })).status).toBe(200);
  });

  test('lets the right code through after a wrong one, and no more than five in all', async () => {
    const { code, verifier } = await codeFor('dora');
    const tryCode = (text: string) => exchange(auth, { code: text, code_verifier: verifier });
    for (const wrong of ['1', '2', '3', '4']) {
      const { status, body } = await tryCode(wrong);
      expect([status, body.error.code]).toEqual([400, 'invalid_grant']);
      expect(body.error.details.reason).toBe('provider_refused');
    }
    expect((await tryCode(code)).status).toBe(200);
    const other = await codeFor('dora');
    const before = await gitlab.seen();
    for (const wrong of ['1', '2', '3', '4', '5', '6', other.code]) {
      const body = { code: wrong, code_verifier: other.verifier };
      const refused = await exchange(auth, body);
      expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_grant']);
    }
    expect((await gitlab.seen()).exchanges - before.exchanges).toBe(5);
  });

  test('costs nobody the login when a stranger brings their code with another secret', async () => {
    const { code, verifier } = await codeFor('dora');
    const stranger = { code, code_verifier: newVerifier().verifier };
    await exchange(auth, stranger);
    const { status, body } = await exchange(auth, { code, code_verifier: verifier });
    expect(status).toBe(200);
    const replay = await exchange(auth, stranger);
    expect([replay.status, replay.body.error.details.reason]).toEqual([400, 'verifier_mismatch']);
    expect((await refresh(auth, body.refresh_token)).status).toBe(200);
  });

  test('follows no redirect of the provider, so that no secret goes elsewhere', async () => {
    const { code, verifier } = await codeFor('dora');
    await using trap = await openTrap();
    await gitlab.control({ redirectTo: trap.url });
    const { status, body } = await exchange(auth, { code, code_verifier: verifier });
    await gitlab.control({ redirectTo: '' });
    expect([status, body.error.code]).toEqual([502, 'provider_error']);
    expect(trap.visits()).toBe(0);
    expect((await exchange(auth, { code, code_verifier: verifier })).status).toBe(200);
  });

  test.each([
    ['redirect_uri', { redirect_uri: extra }, 'redirect_uri_mismatch'],
    ['state', { state: 'another' }, 'invalid_grant'],
    ['issuer', { iss: 'https://other.example' }, 'invalid_grant'],
    ['client', { client_id: 'another' }, 'invalid_grant'],
  ])('refuses another %s than the login began with', async (_name, fields, code) => {
    const login = await codeFor('dora', { client_id: 'web' });
    const body = { code: login.code, code_verifier: login.verifier };
    const refused = await exchange(auth, { ...body, ...fields });
    expect([refused.status, refused.body.error.code]).toEqual([400, code]);
    expect((await exchange(auth, { ...body, client_id: 'web' })).status).toBe(200);
  });

  test('passes on that the user said no', async () => {
    const { verifier, back } = await codeFor('nobody');
    expect(back['error']).toBe('access_denied');
    const { status, body } = await exchange(auth, {
      error: back['error'],
      code_verifier: verifier,
    });
    expect([status, body.error.code]).toEqual([400, 'access_denied']);
  });

  test('refuses a code after ten minutes', async () => {
    const { code, verifier } = await codeFor('dora');
    await ground.database.query("update auth.oauth_flows set expires_at = now() - interval '1 s'");
    const { status, body } = await exchange(auth, { code, code_verifier: verifier });
    expect([status, body.error.code]).toEqual([400, 'invalid_grant']);
    expect(body.error.details.reason).toBe('code_expired');
  });

  test.each([
    ['code', { code_verifier: 'v'.repeat(43) }],
    ['code, verifier or state', {}],
    ['verifier or state', { code: 'c' }],
  ])('takes a request without %s for a bad one', async (_name, fields) => {
    const { status, body } = await exchange(auth, fields);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });

  test('lets one of twenty at once have the tokens, on two replicas, and keep them', async () => {
    const { code, verifier } = await codeFor('dora');
    const body = { code, code_verifier: verifier };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) => exchange(at % 2 === 0 ? auth : replica, body)),
    );
    const won = replies.filter(({ status }) => status === 200);
    const codes = replies.filter(({ status }) => status !== 200).map((one) => one.body.error.code);
    expect([won.length, new Set(codes)]).toEqual([1, new Set(['invalid_grant'])]);
    const refreshed = await refresh(auth, won[0]?.body.refresh_token);
    expect(refreshed.status).toBe(200);
    await exchange(replica, body);
    const ended = await refresh(auth, refreshed.body.refresh_token);
    expect([ended.status, ended.body.error.code]).toEqual([400, 'invalid_grant']);
  });

  test('ends the session of a code that comes again', async () => {
    const { reply, code, verifier } = await logIn(auth, 'dora');
    const { access_token: token } = reply.body;
    expect((await auth.call('GET', '/api/v1/auth/oauth/idp-token', { token })).status).toBe(200);
    const replay = await exchange(auth, { code, code_verifier: verifier });
    expect([replay.status, replay.body.error.code]).toEqual([400, 'invalid_grant']);
    expect((await auth.call('GET', '/api/v1/auth/oauth/idp-token', { token })).status).toBe(401);
    const audit = await auth.call('GET', '/api/v1/auth/audit?eventType=code_replayed', {
      token: admin,
    });
    expect(audit.body.events[0].metadata.provider).toBe('idp');
  });

  test('answers who the user is, and what the groups give', async () => {
    const { reply } = await logIn(auth, 'dora');
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'agent:execute mesh:communicate workflow:create',
      user: {
        username: 'dora',
        email: 'dora@example.com',
        idp_id: 42,
        roles: ['developer'],
        groups: [{ name: 'developers', role: 'developer' }],
      },
    });
    expect(reply.body).not.toHaveProperty('return_to');
  });

  test('reads the groups from their own address where userinfo has none', async () => {
    await gitlab.control({ withoutGroups: true, login: 'erin', groups: ['users', 'other'] });
    const { reply } = await logIn(auth, 'erin');
    await gitlab.control({ withoutGroups: false, login: 'erin', groups: ['users'] });
    expect(reply.body.user.groups).toEqual([
      { id: 8, name: 'users', role: 'user' },
      { name: 'other' },
    ]);
  });

  test('lets users of an OpenID provider in, id_token checked', async () => {
    const { reply } = await logIn(replica, 'alice', 'openid');
    expect(reply.body.user).toMatchObject({
      username: 'alice',
      idp_id: 1001,
      avatar_url: 'https://provider.example/alice.png',
      roles: ['admin'],
      groups: [{ name: 'platform' }, { name: 'administrators', role: 'admin' }],
    });
    const carol = await logIn(auth, 'carol', 'openid');
    expect(carol.reply.body.user).not.toHaveProperty('idp_id');
  });

  test('refuses one whose key is unknown, and knows it at the next login', async () => {
    const logInAt = async (place: RunningAuth) => (await logIn(place, 'bob', 'openid')).reply;
    await Promise.all([auth, replica].map(logInAt));
    await openId.control({ kid: 'provider-2' });
    for (const place of [auth, replica]) {
      expect((await logInAt(place)).body.error.details.reason).toBe('id_token_invalid');
      expect((await logInAt(place)).status).toBe(200);
    }
  });

  test('refuses an id_token whose nonce is of another login', async () => {
    const { code, verifier } = await codeFor('bob', { provider: 'openid' });
    await ground.database.query(
      "update auth.oauth_flows set nonce = 'x' where consumed_at is null",
    );
    const { status, body } = await exchange(auth, { code, code_verifier: verifier });
    expect([status, body.error.code]).toEqual([400, 'invalid_grant']);
    expect(body.error.details.reason).toBe('id_token_invalid');
  });
});

describe('a login whose verifier the service keeps', () => {
  const begin = async (returnTo: string, provider = 'idp') => {
    const begun = await authorize(auth, { return_to: returnTo, provider });
    const cookie = String(begun.headers['set-cookie']);
    const login = provider === 'idp' ? 'dora' : 'bob';
    const back = await visit(String(begun.headers['location']), login);
    return { cookie: cookie.split(';')[0] ?? '', cookieText: cookie, back };
  };

  test('is of no use without the cookie, with another, or with another state', async () => {
    const [one, two] = [await begin('/'), await begin('/')];
    const { code, state } = one.back;
    for (const [given, cookie] of [
      [state, undefined],
      [state, two.cookie],
      [two.back['state'], one.cookie],
    ] as const) {
      const { status, body } = await exchange(auth, { code, state: given }, cookie);
      expect([status, body.error.code]).toEqual([400, 'invalid_grant']);
      expect(body.error.details.reason).toBe('state_mismatch');
    }
    const bare = await exchange(auth, { code }, one.cookie);
    expect([bare.status, bare.body.error.code]).toEqual([400, 'invalid_request']);
    const wrong = await exchange(auth, { code: 'slipped in', state }, one.cookie);
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_grant']);
    expect((await exchange(auth, { code, state }, one.cookie)).status).toBe(200);
  });

  test.each(['idp', 'openid'])('goes through %s with a cookie for this browser', async (name) => {
    const { back, cookie, cookieText } = await begin('/studio?tab=1#x', name);
    expect(cookieText).toMatch(/; HttpOnly; SameSite=Lax$/);
    const { code, state } = back;
    const { status, body, headers } = await exchange(replica, { code, state }, cookie);
    expect([status, body.return_to]).toEqual([200, '/studio?tab=1#x']);
    expect(String(headers['set-cookie'])).toContain('Max-Age=0');
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/a\r\nb',
    '/\t/evil',
    '',
  ])('returns to / in place of %j', async (returnTo) => {
    const { back, cookie } = await begin(returnTo);
    const { code, state } = back;
    expect((await exchange(auth, { code, state }, cookie)).body.return_to).toBe('/');
  });
});

function refresh(at: RunningAuth, refreshToken: string) {
  return at.call('POST', '/api/v1/auth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken },
  });
}
