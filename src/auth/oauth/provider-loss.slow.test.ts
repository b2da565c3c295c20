import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type Ground, type Reply, type RunningAuth } from '../testing.ts';
import { environmentOf, logIn, openTrap, startProvider, type TestProvider } from './testing.ts';

const lifetime = new Lifetime(silentLog);
let ground: Ground;
let gitlab: TestProvider;
let auth: RunningAuth;
let replica: RunningAuth;
let admin: string;

beforeAll(async () => {
  gitlab = lifetime.own('gitlab', await startProvider('gitlab'));
  ground = lifetime.own('the ground', await openGround());
  const environment = environmentOf(gitlab);
  auth = lifetime.own('auth', await startAuth(ground, { environment }));
  replica = lifetime.own('the replica', await startAuth(ground, { environment }));
  admin = await auth.adminToken();
});

beforeEach(() => gitlab.control({ tokenFailure: '', readingDelayMs: 0, readingRefused: false }));

afterAll(() => lifetime[Symbol.asyncDispose]());

const plainly = (refreshToken: string, at = auth) =>
  at.call('POST', '/api/v1/auth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken },
  });
const withProvider = (refreshToken: string, provider = 'idp', at = auth) =>
  at.call('POST', '/api/v1/auth/oauth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken, provider },
  });
const idpToken = (token: string, at = auth) =>
  at.call('GET', '/api/v1/auth/oauth/idp-token', { token });
const lastEvent = async (query: string) => {
  const url = `/api/v1/auth/audit?limit=1&${query}`;
  return (await auth.call('GET', url, { token: admin })).body.events[0];
};
const refusalOf = ({ status, body }: Reply) => [status, body.error.code, body.error.details.reason];

/** Leaves the provider's tokens of everybody a minute. */
const ageTokens = () =>
  ground.database.query(
    "update auth.identities set issued_at = now() - interval '2 hours', expires_at = now() + interval '1 minute'",
  );

async function rolesOf(userId: string): Promise<unknown> {
  return (await auth.call('GET', `/api/v1/auth/users/${userId}`, { token: admin })).body.roles;
}

/** Puts a provider in force that asks the GitLab of this test, under this name. */
async function configure(provider: string, config: object = {}) {
  const { url, clientId: clientID, clientSecret, callback: callbackURL } = gitlab;
  const addresses = {
    authorizationURL: `${url}/oauth/authorize`,
    tokenURL: `${url}/oauth/token`,
    userInfoURL: `${url}/oauth/userinfo`,
  };
  const { status } = await auth.call('POST', '/api/v1/auth/oauth/configure', {
    token: admin,
    body: { provider, config: { ...addresses, clientID, clientSecret, callbackURL, ...config } },
  });
  expect(status).toBe(200);
}

async function remove(provider: string) {
  const url = `/api/v1/auth/oauth/providers/${provider}`;
  expect((await auth.call('DELETE', url, { token: admin })).status).toBe(200);
}

describe('a provider that is no longer configured', () => {
  test('leaves its users no groups at the next refresh, on every replica', async () => {
    await configure('git');
    const { reply } = await logIn(auth, 'dora', 'git');
    expect(reply.body.user.roles).toEqual(['developer']);
    await remove('git');
    const refreshed = await plainly(reply.body.refresh_token, replica);
    const { body } = await auth.call('POST', '/api/v1/auth/validate', {
      body: { token: refreshed.body.access_token },
    });
    expect([body.payload.roles, body.payload.permissions]).toEqual([[], []]);
    expect(await rolesOf(reply.body.user.id)).toEqual([]);
    const again = await logIn(auth, 'dora');
    expect(again.reply.body.user.roles).toEqual(['developer']);
  });

  test('gives its users no tokens, and no refresh with them', async () => {
    await configure('git');
    const { reply } = await logIn(auth, 'dora', 'git');
    await remove('git');
    for (const at of [auth, replica]) {
      const held = await idpToken(reply.body.access_token, at);
      expect([held.status, held.body.error.details.reason]).toEqual([401, 'idp_login_required']);
    }
    // The first refusal takes the groups, and with them the access token.
    for (const at of [auth, replica]) {
      const refused = await withProvider(reply.body.refresh_token, 'git', at);
      expect(refusalOf(refused)).toEqual([400, 'invalid_grant', 'idp_login_required']);
    }
    expect(await rolesOf(reply.body.user.id)).toEqual([]);
    const event = await lastEvent('eventType=refresh_refused');
    expect(event).toMatchObject({
      userId: reply.body.user.id,
      metadata: { reason: 'idp_login_required' },
    });
    expect((await plainly(reply.body.refresh_token)).status).toBe(200);
  });

  test('counts as gone when another issuer has its name, who is shown no token', async () => {
    const { reply } = await logIn(auth, 'dora');
    await using other = await openTrap();
    const { url } = other;
    await configure('idp', { authorizationURL: url, tokenURL: url, userInfoURL: url });
    const refused = await withProvider(reply.body.refresh_token);
    const held = await idpToken(reply.body.access_token);
    const refreshed = await plainly(reply.body.refresh_token);
    await remove('idp');
    expect(other.visits()).toBe(0);
    expect(refreshed.status).toBe(200);
    expect(refusalOf(refused)).toEqual([400, 'invalid_grant', 'idp_login_required']);
    expect(held.status).toBe(401);
    expect(await rolesOf(reply.body.user.id)).toEqual([]);
  });
});

describe('a provider that takes its grant back', () => {
  test('ends the refresh with its tokens, but not the session', async () => {
    const { reply } = await logIn(auth, 'finn');
    await gitlab.control({ revoke: 'finn' });
    const refused = await withProvider(reply.body.refresh_token);
    expect(refusalOf(refused)).toEqual([400, 'invalid_grant', 'idp_login_required']);
    expect(await rolesOf(reply.body.user.id)).toEqual([]);
    expect((await plainly(reply.body.refresh_token)).status).toBe(200);
    const { isRepeated } = (await lastEvent('eventType=token_refreshed')).metadata;
    expect(isRepeated).toBe(false);
  });

  test('takes every group when it refuses even a token that it has just given', async () => {
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ readingRefused: true });
    await ageTokens();
    expect((await plainly(reply.body.refresh_token)).status).toBe(200);
    expect(await rolesOf(reply.body.user.id)).toEqual([]);
    expect((await idpToken(reply.body.access_token)).status).toBe(401);
  });

  test('takes nothing when it has only replaced the token that is being read with', async () => {
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ readingDelayMs: 400 });
    const before = await gitlab.seen();
    const reading = plainly(reply.body.refresh_token);
    await expect
      .poll(async () => (await gitlab.seen()).readings, { interval: 10 })
      .toBe(before.readings + 1);
    const other = await withProvider(reply.body.refresh_token, 'idp', replica);
    expect([other.status, (await reading).status]).toEqual([200, 200]);
    expect(await rolesOf(reply.body.user.id)).toEqual(['developer']);
    expect((await idpToken(other.body.access_token)).status).toBe(200);
  });
});

describe('a token endpoint that fails', () => {
  test.each(['500', '302', '307', 'html', 'hang-up'])(
    'with %s costs the caller no refresh token',
    async (tokenFailure) => {
      const { reply } = await logIn(auth, 'dora');
      const { body: held } = await idpToken(reply.body.access_token);
      await gitlab.control({ tokenFailure });
      const refused = await withProvider(reply.body.refresh_token);
      expect([refused.status, refused.body.error.code]).toEqual([502, 'provider_error']);
      const stored = await idpToken(reply.body.access_token);
      expect([stored.status, stored.body.access_token]).toEqual([200, held.access_token]);
      const refreshed = await plainly(reply.body.refresh_token);
      expect(refreshed.status).toBe(200);
      expect(await rolesOf(reply.body.user.id)).toEqual(['developer']);
      const { isRepeated } = (await lastEvent('eventType=token_refreshed')).metadata;
      expect(isRepeated).toBe(false);
      await gitlab.control({ tokenFailure: '' });
      expect((await withProvider(refreshed.body.refresh_token)).status).toBe(200);
    },
  );

  test('fails for all who asked at the same time, on two replicas', async () => {
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ tokenFailure: '500' });
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        withProvider(reply.body.refresh_token, 'idp', at % 2 === 0 ? auth : replica),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([502]));
  });

  test('leaves tokens that age good for their own time', async () => {
    const { reply } = await logIn(auth, 'dora');
    await gitlab.control({ tokenFailure: '500' });
    await ageTokens();
    expect((await idpToken(reply.body.access_token)).status).toBe(200);
    await ground.database.query("update auth.identities set expires_at = now() - interval '1 s'");
    const expired = await idpToken(reply.body.access_token);
    expect([expired.status, expired.body.error.code]).toEqual([502, 'provider_error']);
  });
});

test.each([
  ['plain refreshes', plainly],
  ['refreshes with the provider', withProvider],
] as const)('ten %s at once read the user once', async (_name, refresh) => {
  const { reply } = await logIn(auth, 'dora');
  await gitlab.control({ readingDelayMs: 400 });
  const before = await gitlab.seen();
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => refresh(reply.body.refresh_token)),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await gitlab.seen()).readings - before.readings).toBe(1);
});
