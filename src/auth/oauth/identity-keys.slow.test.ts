import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import { environmentOf, logIn, openIdConfig, startProvider, type TestProvider } from './testing.ts';

const lifetime = new Lifetime(silentLog);
let ground: Ground;
let gitlab: TestProvider;
let openId: TestProvider;
let auth: RunningAuth;
let admin: string;

const start = () => startAuth(ground, { environment: environmentOf(gitlab) });

beforeAll(async () => {
  [gitlab, openId] = await Promise.all([startProvider('gitlab'), startProvider('oidc-provider')]);
  lifetime.own('gitlab', gitlab);
  lifetime.own('the OpenID provider', openId);
  ground = lifetime.own('the ground', await openGround());
  auth = lifetime.own('auth', await start());
  admin = await auth.adminToken();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

/** Erin has the number of Dora, as in another GitLab. */
beforeEach(async () => {
  await gitlab.control({ login: 'dora', groups: ['administrators'] });
  await gitlab.control({ login: 'erin', sub: '42', groups: ['users'] });
  await ground.database.query('delete from auth.users where provider is not null');
});

async function configure(provider: string, config: object) {
  const { status } = await auth.call('POST', '/api/v1/auth/oauth/configure', {
    token: admin,
    body: { provider, config },
  });
  expect(status).toBe(200);
}

/** What `configure` takes for the GitLab below a path. */
function gitlabAt(path: string, changes: object = {}) {
  const { url, clientId: clientID, clientSecret, callback: callbackURL } = gitlab;
  const authorizationURL = `${url}${path}/oauth/authorize`;
  const tokenURL = `${url}${path}/oauth/token`;
  const userInfoURL = `${url}${path}/oauth/userinfo`;
  const addresses = { authorizationURL, tokenURL, userInfoURL };
  return { ...addresses, clientID, clientSecret, callbackURL, ...changes };
}

async function userOf(login: string, provider: string, at = auth) {
  const { reply } = await logIn(at, login, provider);
  expect(reply.status).toBe(200);
  return { ...reply.body, id: reply.body.user.id, roles: reply.body.user.roles };
}

const refresh = (refreshToken: string, provider: string, at = auth) =>
  at.call('POST', '/api/v1/auth/oauth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken, provider },
  });

describe('two providers of one host that name no issuer', () => {
  test('have people of their own, though these have the same number', async () => {
    await configure('second', gitlabAt('/second'));
    const boss = await userOf('dora', 'idp');
    const other = await userOf('erin', 'second');
    expect(other.id).not.toBe(boss.id);
    expect([boss.roles, other.roles]).toEqual([['admin'], ['user']]);
    expect((await userOf('dora', 'idp')).id).toBe(boss.id);
    expect((await userOf('erin', 'second')).id).toBe(other.id);
  });

  test('have the same people when they are the same provider', async () => {
    await configure('again', gitlabAt('', { scopes: 'openid' }));
    const { id } = await userOf('dora', 'idp');
    expect((await userOf('dora', 'again')).id).toBe(id);
  });
});

describe('a provider that is configured anew', () => {
  test('keeps its people with another client, other scopes and another address of users', async () => {
    await configure('moving', gitlabAt('/second'));
    const { id } = await userOf('dora', 'moving');
    const userInfoURL = `${gitlab.url}/second/api/v4/user`;
    const callbackURL = gitlab.callback;
    await configure('moving', gitlabAt('/second', { userInfoURL, callbackURL, scopes: 'api' }));
    expect((await userOf('dora', 'moving')).id).toBe(id);
  });

  test('is another one at another path, which is shown nobody and no token', async () => {
    await configure('moving', gitlabAt('/second'));
    const before = await userOf('dora', 'moving');
    await configure('moving', gitlabAt(''));
    const refused = await refresh(before.refresh_token, 'moving');
    expect([refused.status, refused.body.error.details.reason]).toEqual([
      400,
      'idp_login_required',
    ]);
    expect((await userOf('erin', 'moving')).id).not.toBe(before.id);
  });

  test('keeps its people and their tokens when it gains its issuer', async () => {
    const { issuer, ...plain } = openIdConfig(openId);
    await configure('openid', plain);
    const before = await userOf('alice', 'openid');
    await configure('openid', { ...plain, issuer });
    const refreshed = await refresh(before.refresh_token, 'openid');
    expect([refreshed.status, refreshed.body.idp_token?.expires_in]).toEqual([
      200,
      expect.any(Number),
    ]);
    expect((await userOf('alice', 'openid')).id).toBe(before.id);
  });
});

test('an identity that stands under the origin alone gets the key of its provider at a start', async () => {
  await configure('openid', openIdConfig(openId));
  const alice = await userOf('alice', 'openid');
  const finn = await userOf('finn', 'idp');
  // What is stored for a number at the origin, under the name of a provider below a path.
  await configure('second', gitlabAt(''));
  const erin = await userOf('erin', 'second');
  await configure('second', gitlabAt('/second'));
  await ground.database.query('update auth.identities set keyed_by_origin = true');
  await using replica = await start();
  const refreshed = await refresh(erin.refresh_token, 'second', replica);
  expect(refreshed.status).toBe(200);
  expect((await userOf('erin', 'second', replica)).id).toBe(erin.id);
  expect((await userOf('dora', 'idp', replica)).id).not.toBe(erin.id);
  expect((await userOf('finn', 'idp', replica)).id).toBe(finn.id);
  expect((await userOf('alice', 'openid', replica)).id).toBe(alice.id);
  await configure('second', gitlabAt(''));
  await using later = await start();
  expect((await userOf('erin', 'second', later)).id).not.toBe(erin.id);
});
