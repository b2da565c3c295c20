import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { environmentOf, logIn, startProvider, type TestProvider } from '../oauth/testing.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

const administrators = { idpGroup: 'administrators', platformRole: 'admin', permissions: ['*'] };
const alpha = {
  idpGroup: 'teams/alpha',
  platformRole: 'member',
  permissions: ['agent:read', 'models:manage'],
};
const beta = {
  idpGroup: 'teams/beta',
  platformRole: 'member',
  permissions: ['agent:read', 'tracer:read'],
};
const teams = [administrators, alpha, beta];
const password = 'a good password';

const lifetime = new Lifetime(silentLog);
let ground: Ground;
let provider: TestProvider;
let auth: RunningAuth;
let replica: RunningAuth;
let admin: string;

beforeAll(async () => {
  provider = lifetime.own('the provider', await startProvider('gitlab'));
  ground = lifetime.own('the ground', await openGround());
  const environment = environmentOf(provider);
  auth = lifetime.own('auth', await startAuth(ground, { environment }));
  admin = await auth.adminToken();
  await put(teams);
  replica = lifetime.own('the replica', await startAuth(ground, { environment }));
  const body = { username: 'lea', password, email: 'l@example.com', name: 'L', roles: ['member'] };
  await auth.call('POST', '/api/v1/auth/users', { token: admin, body });
});

afterAll(() => lifetime[Symbol.asyncDispose]());

/** Dora is in alpha, Erin in beta, Finn in both; `chess` is mapped to nothing. */
beforeEach(async () => {
  await join('dora', ['teams/alpha']);
  await join('erin', ['teams/beta', 'chess']);
  await join('finn', ['teams/alpha', 'teams/beta']);
  expect((await put(teams)).status).toBe(200);
});

function join(login: string, groups: readonly string[]) {
  return provider.control({ login, groups });
}

function put(mappings: unknown, token = admin, query = '') {
  const url = `/api/v1/auth/group-mappings${query}`;
  return auth.call('PUT', url, { token, body: { mappings } });
}

async function refresh(refreshToken: string, at = auth) {
  const { status, body } = await at.call('POST', '/api/v1/auth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken },
  });
  expect(status).toBe(200);
  return body;
}

function claimsOf({ access_token: token }: { readonly access_token: string }) {
  const { roles, permissions } = decodeJwt(token);
  return { roles, permissions };
}

/** A token of somebody who administers and holds these permissions besides. */
async function clerk(permissions: readonly string[]): Promise<string> {
  const body = { name: 'c', service: 'clerk', permissions: ['auth:admin', ...permissions] };
  const made = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
  return made.body.api_key;
}

describe('two groups with one role', () => {
  test.each([
    ['dora', alpha.permissions],
    ['erin', beta.permissions],
    ['finn', ['agent:read', 'models:manage', 'tracer:read']],
  ])('give %s the permissions of their own groups alone', async (login, permissions) => {
    for (const at of [auth, replica]) {
      const { reply } = await logIn(at, login);
      expect(claimsOf(reply.body)).toEqual({ roles: ['member'], permissions });
      expect(reply.body.scope).toBe(permissions.join(' '));
      const introspected = await at.call('POST', '/api/v1/auth/introspect', {
        token: admin,
        body: { token: reply.body.refresh_token },
      });
      expect(introspected.body).toMatchObject({ roles: ['member'], permissions });
      const next = await refresh(reply.body.refresh_token, at);
      expect(claimsOf(next)).toEqual({ roles: ['member'], permissions });
    }
  });

  test('show in the answer of the login as groups, mapped or not', async () => {
    const { reply } = await logIn(auth, 'erin');
    expect(reply.body.user).toMatchObject({
      roles: ['member'],
      groups: [{ name: 'teams/beta', role: 'member' }, { name: 'chess' }],
    });
  });

  test('let a user of one be managed by who holds what that one gives', async () => {
    const token = await clerk(alpha.permissions);
    for (const [login, status] of [
      ['erin', 403],
      ['finn', 403],
      ['dora', 200],
    ] as const) {
      const { reply } = await logIn(auth, login);
      const url = `/api/v1/auth/users/${reply.body.user.id}`;
      const changed = await auth.call('PATCH', url, { token, body: { name: 'Renamed' } });
      expect([login, changed.status]).toEqual([login, status]);
      const reset = await auth.call('DELETE', `${url}/mfa`, { token });
      expect([login, reset.status]).toEqual([login, status]);
    }
  });

  test('bound the API key of a user by the own groups', async () => {
    const { reply } = await logIn(auth, 'dora');
    const body = {
      name: 'k',
      service: 's',
      userId: reply.body.user.id,
      permissions: ['models:*', 'tracer:read'],
    };
    const made = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
    const traded = await auth.call('POST', '/api/v1/auth/api-key', {
      body: { api_key: made.body.api_key, client_id: 'test' },
    });
    expect(claimsOf(traded.body)).toEqual({ roles: ['member'], permissions: ['models:manage'] });
  });

  test('keep providers to those who hold what either gives', async () => {
    const url = '/api/v1/auth/oauth/providers/other';
    await put([{ ...administrators, permissions: ['auth:admin'] }, alpha, beta]);
    for (const [permissions, status] of [
      [['agent:read'], 403],
      [alpha.permissions, 403],
      [[...alpha.permissions, ...beta.permissions], 404],
    ] as const) {
      const token = await clerk(permissions);
      expect((await auth.call('DELETE', url, { token })).status).toBe(status);
    }
  });
});

describe('a user with a role that an administrator gave', () => {
  test('has what all mappings of the role have in common, whatever groups there are', async () => {
    for (const at of [auth, replica]) {
      const { body } = await at.login('lea', password);
      expect(claimsOf(body)).toEqual({ roles: ['member'], permissions: ['agent:read'] });
      const next = await refresh(body.refresh_token, at);
      expect(claimsOf(next)).toEqual({ roles: ['member'], permissions: ['agent:read'] });
    }
  });

  test('came through no provider: whom a provider vouches for is refused any', async () => {
    const { reply } = await logIn(auth, 'finn');
    const url = `/api/v1/auth/users/${reply.body.user.id}`;
    for (const roles of [['admin'], ['member'], []]) {
      const body = { roles, name: 'Other' };
      const refused = await auth.call('PATCH', url, { token: admin, body });
      expect([refused.status, refused.body.error.code]).toEqual([409, 'roles_come_from_groups']);
      expect(refused.body.error.message).toContain('change the groups');
    }
    const read = await auth.call('GET', url, { token: admin });
    expect(read.body).toMatchObject({ roles: ['member'], name: reply.body.user.name });
    const next = await refresh(reply.body.refresh_token);
    expect(claimsOf(next).permissions).toEqual(['agent:read', 'models:manage', 'tracer:read']);
  });

  test('is the only kind that keeps the suite administrable', async () => {
    await join('erin', ['administrators']);
    const { reply } = await logIn(auth, 'erin');
    const url = `/api/v1/auth/users/${reply.body.user.id}`;
    await auth.call('PATCH', url, { token: admin, body: { password } });
    const own = decodeJwt(admin).sub ?? '';
    const refused = await auth.call('DELETE', `/api/v1/auth/users/${own}`, { token: admin });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'last_administrator']);
  });
});

describe('a refresh', () => {
  test('takes what a left group gave, though another gives the same role', async () => {
    const { reply } = await logIn(auth, 'finn');
    await join('finn', ['teams/beta']);
    const left = await refresh(reply.body.refresh_token, replica);
    expect(claimsOf(left)).toEqual({ roles: ['member'], permissions: beta.permissions });
    await join('finn', ['teams/alpha', 'teams/beta']);
    const back = await refresh(left.refresh_token);
    expect(claimsOf(back)).toEqual({ roles: ['member'], permissions: beta.permissions });
    const again = await logIn(auth, 'finn');
    expect(again.reply.body.scope).toBe('agent:read models:manage tracer:read');
  });

  test('gives nothing of a group that was joined since the login', async () => {
    const { reply } = await logIn(auth, 'dora');
    await join('dora', ['teams/beta']);
    const next = await refresh(reply.body.refresh_token);
    expect(claimsOf(next)).toEqual({ roles: [], permissions: [] });
    const again = await logIn(auth, 'dora');
    expect(claimsOf(again.reply.body).permissions).toEqual(beta.permissions);
  });

  test('that takes groups away is in the audit log', async () => {
    const { reply } = await logIn(auth, 'finn');
    await join('finn', ['teams/beta']);
    await refresh(reply.body.refresh_token);
    const query = `eventType=roles_narrowed&userId=${reply.body.user.id}&limit=1`;
    const { body } = await auth.call('GET', `/api/v1/auth/audit?${query}`, { token: admin });
    expect(body.events[0].metadata).toMatchObject({ groupRoles: 'member', groupsLost: 1 });
  });

  test('of a user whose groups are not stored yet gives no more than all of the role', async () => {
    const { reply } = await logIn(auth, 'finn');
    await ground.database.query('update auth.users set groups = null');
    const next = await refresh(reply.body.refresh_token);
    expect(claimsOf(next)).toEqual({ roles: ['member'], permissions: ['agent:read'] });
    await join('finn', ['chess']);
    const left = await refresh(next.refresh_token);
    expect(claimsOf(left)).toEqual({ roles: [], permissions: [] });
  });
});

describe('a change of the mappings', () => {
  test('reaches open sessions at their next refresh, on every replica', async () => {
    const { reply } = await logIn(auth, 'erin');
    const wider = { ...beta, platformRole: 'tester', permissions: ['tracer:read', 'chat:write'] };
    await put([administrators, alpha, wider]);
    let { refresh_token: token } = await refresh(reply.body.refresh_token);
    const expected = { roles: ['tester'], permissions: ['chat:write', 'tracer:read'] };
    await expect
      .poll(
        async () => {
          const next = await refresh(token, replica);
          token = next.refresh_token;
          return claimsOf(next);
        },
        { timeout: 15_000, interval: 500 },
      )
      .toEqual(expected);
    expect(claimsOf(await refresh(token))).toEqual(expected);
    const url = `/api/v1/auth/users/${reply.body.user.id}`;
    const read = await auth.call('GET', url, { token: admin });
    expect(read.body.roles).toEqual(['tester']);
    const listed = await auth.call('GET', '/api/v1/auth/users?limit=100', { token: admin });
    const found = listed.body.users.find(({ id }: { id: string }) => id === read.body.id);
    expect(found.roles).toEqual(['tester']);
  });

  test('of a group touches nobody of another group with the same role', async () => {
    await Promise.all(['dora', 'erin', 'finn'].map((login) => logIn(auth, login)));
    const wider = { ...beta, permissions: [...beta.permissions, 'chat:write'] };
    const { body } = await put([administrators, alpha, wider], admin, '?dryRun=true');
    expect(body.affectedTotal).toBe(2);
    expect(affectedOf(body)).toEqual({
      erin: [beta.permissions, ['agent:read', 'chat:write', 'tracer:read']],
      finn: [
        ['agent:read', 'models:manage', 'tracer:read'],
        ['agent:read', 'chat:write', 'models:manage', 'tracer:read'],
      ],
    });
  });

  test('that maps a new group finds those who are in it, and they gain by a refresh', async () => {
    const { reply } = await logIn(auth, 'erin');
    await logIn(auth, 'dora');
    const chess = { idpGroup: 'chess', platformRole: 'player', permissions: ['chat:write'] };
    const { body } = await put([...teams, chess], admin, '?dryRun=true');
    expect(body).toMatchObject({ added: [chess], affectedTotal: 1 });
    expect(affectedOf(body)).toEqual({
      erin: [beta.permissions, ['agent:read', 'chat:write', 'tracer:read']],
    });
    await put([...teams, chess]);
    const next = await refresh(reply.body.refresh_token);
    expect(claimsOf(next)).toEqual({
      roles: ['member', 'player'],
      permissions: ['agent:read', 'chat:write', 'tracer:read'],
    });
  });

  test('that removes a group finds its members, and users with its role who gain', async () => {
    await Promise.all(['dora', 'erin'].map((login) => logIn(auth, login)));
    await join('finn', ['teams/beta']);
    await logIn(auth, 'finn');
    const { body } = await put([administrators, beta], admin, '?dryRun=true');
    expect(affectedOf(body)).toEqual({
      dora: [alpha.permissions, []],
      lea: [['agent:read'], beta.permissions],
    });
  });
});

test('a group whose path no mapping can name keeps nobody out', async () => {
  await join('erin', ['teams/beta', 'a\0b', '\ud800', 'x'.repeat(5_000), '']);
  const { reply } = await logIn(auth, 'erin');
  expect([reply.status, reply.body.scope]).toEqual([200, beta.permissions.join(' ')]);
  const next = await refresh(reply.body.refresh_token);
  expect(claimsOf(next).permissions).toEqual(beta.permissions);
});

/** The permissions before and after of each affected user. */
function affectedOf(body: {
  readonly affectedUsers: { username: string; before: string[]; after: string[] }[];
}) {
  return Object.fromEntries(
    body.affectedUsers.map(({ username, before, after }) => [username, [before, after]]),
  );
}
