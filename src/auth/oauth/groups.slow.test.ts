import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type RunningAuth } from '../testing.ts';
import { environmentOf, logIn, startProvider, type TestProvider } from './testing.ts';

const developers = {
  idpGroup: 'developers',
  platformRole: 'developer',
  permissions: ['agent:execute', 'workflow:create'],
};
const administrators = { idpGroup: 'administrators', platformRole: 'admin', permissions: ['*'] };
const mappings = [administrators, developers];

const lifetime = new Lifetime(silentLog);
let gitlab: TestProvider;
let auth: RunningAuth;
let admin: string;

beforeAll(async () => {
  gitlab = lifetime.own('gitlab', await startProvider('gitlab'));
  const ground = lifetime.own('the ground', await openGround());
  auth = lifetime.own('auth', await startAuth(ground, { environment: environmentOf(gitlab) }));
  admin = await auth.adminToken();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

beforeEach(async () => {
  await gitlab.control({ withoutGroups: false, visibleGroups: [] });
  await join(['administrators', 'chess']);
  await put(mappings);
});

const join = (groups: readonly string[]) => gitlab.control({ login: 'dora', groups });

async function put(wanted: readonly unknown[]) {
  const url = '/api/v1/auth/group-mappings';
  const { status } = await auth.call('PUT', url, { token: admin, body: { mappings: wanted } });
  expect(status).toBe(200);
}

const refresh = (refreshToken: string) =>
  auth.call('POST', '/api/v1/auth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken },
  });
const refreshWithProvider = (refreshToken: string) =>
  auth.call('POST', '/api/v1/auth/oauth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken, provider: 'idp' },
  });

/** The status when users are listed with a token, or with an API key itself. */
async function listing(token: string) {
  return (await auth.call('GET', '/api/v1/auth/users', { token })).status;
}

/** What is left with a token, or with an API key itself: 401 when that is nothing. */
async function statusOf(token: string) {
  return (await auth.call('GET', '/api/v1/auth/userinfo', { token })).status;
}

/** A login of Dora, with an API key of hers that a service has traded. */
async function logInWithKey() {
  const { reply } = await logIn(auth, 'dora');
  const body = { name: 'k', service: 's', userId: reply.body.user.id, permissions: ['*'] };
  const made = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
  const apiKey: string = made.body.api_key;
  await statusOf(apiKey);
  return { apiKey, login: reply.body };
}

describe('a group that was left', () => {
  test.each([
    ['a refresh', refresh],
    ['a refresh with the provider', refreshWithProvider],
    ['a login', () => logIn(auth, 'dora').then(({ reply }) => reply)],
  ])('ends by %s what tokens and an API key itself may do', async (_name, act) => {
    const { apiKey, login } = await logInWithKey();
    expect([await listing(apiKey), await listing(login.access_token)]).toEqual([200, 200]);
    await join(['developers']);
    const next = await act(login.refresh_token);
    expect(next.status).toBe(200);
    expect([await listing(apiKey), await listing(login.access_token)]).toEqual([403, 401]);
    expect(decodeJwt(next.body.access_token)['roles']).not.toContain('admin');
    expect(await statusOf(next.body.access_token)).toBe(200);
    const query = `eventType=roles_narrowed&userId=${login.user.id}&limit=1`;
    const audit = await auth.call('GET', `/api/v1/auth/audit?${query}`, { token: admin });
    expect(audit.body.events[0].metadata).toMatchObject({ groupsLost: 2 });
  });

  test('ends nothing when it gave nothing', async () => {
    const { apiKey, login } = await logInWithKey();
    await join(['administrators']);
    expect((await refresh(login.refresh_token)).status).toBe(200);
    expect([await listing(apiKey), await listing(login.access_token)]).toEqual([200, 200]);
  });
});

describe('a mapping that is taken away', () => {
  test('ends at once what an API key itself may do', async () => {
    await join(['leads']);
    await put([...mappings, { ...administrators, idpGroup: 'leads', platformRole: 'lead' }]);
    const { apiKey } = await logInWithKey();
    expect(await listing(apiKey)).toBe(200);
    await put(mappings);
    expect(await listing(apiKey)).toBe(403);
  });

  test('ends no token of whoever may do as much as before', async () => {
    const { apiKey, login } = await logInWithKey();
    await put([administrators]);
    expect([await listing(apiKey), await listing(login.access_token)]).toEqual([200, 200]);
  });
});

describe('groups at an address of their own', () => {
  async function configure(groupsURL: string) {
    const { url, clientId: clientID, clientSecret, callback: callbackURL } = gitlab;
    const body = {
      provider: 'listed',
      config: {
        authorizationURL: `${url}/oauth/authorize`,
        tokenURL: `${url}/oauth/token`,
        userInfoURL: `${url}/oauth/userinfo`,
        groupsURL: `${url}${groupsURL}`,
        clientID,
        clientSecret,
        callbackURL,
      },
    };
    const { status } = await auth.call('POST', '/api/v1/auth/oauth/configure', {
      token: admin,
      body,
    });
    expect(status).toBe(200);
    await gitlab.control({ withoutGroups: true, visibleGroups: ['administrators'] });
  }

  test.each(['/api/v4/groups', '/api/v4/groups?per_page=20'])(
    'are those that the user is a member of: %s',
    async (groupsURL) => {
      await configure(groupsURL);
      await join(['developers']);
      const { reply } = await logIn(auth, 'dora', 'listed');
      expect(reply.body.user).toMatchObject({
        roles: ['developer'],
        groups: [{ id: 7, name: 'developers', role: 'developer' }],
      });
    },
  );

  test('refuse a login where they are on more pages than are read', async () => {
    await configure('/api/v4/groups');
    await join([...Array.from({ length: 100 }, (_, at) => `group-${at}`), 'developers']);
    const { reply } = await logIn(auth, 'dora', 'listed');
    expect([reply.status, reply.body.error.code]).toEqual([502, 'provider_error']);
    expect(reply.body.error.message).toContain('more than 100 pages of groups');
  });
});

describe('a user of very many groups', () => {
  const many = Array.from({ length: 1_500 }, (_, at) => `group-${at}`);

  test('has what each of them gives; the answer shows a thousand', async () => {
    await join([...many, 'developers']);
    const { reply } = await logIn(auth, 'dora');
    expect(reply.body.user.roles).toEqual(['developer']);
    expect(reply.body.user.groups).toHaveLength(1_000);
    const next = await refreshWithProvider(reply.body.refresh_token);
    expect(decodeJwt(next.body.access_token)['roles']).toEqual(['developer']);
    await join([...many, 'one more', 'developers']);
    const again = await refresh(next.body.refresh_token);
    expect(decodeJwt(again.body.access_token)['roles']).toEqual(['developer']);
  });

  test('is refused where they are more than are read', async () => {
    await join(Array.from({ length: 10_001 }, (_, at) => `group-${at}`));
    const { reply } = await logIn(auth, 'dora');
    expect([reply.status, reply.body.error.code]).toEqual([502, 'provider_error']);
    expect(reply.body.error.message).toContain('more than 10000 groups');
  });
});
