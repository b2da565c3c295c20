import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

const url = '/api/v1/auth/group-mappings';
const password = 'a good password';
const administrators = { idpGroup: 'administrators', platformRole: 'admin', permissions: ['*'] };
const users = {
  idpGroup: 'users',
  platformRole: 'user',
  permissions: ['agent:read', 'workflow:read'],
};
const developers = {
  idpGroup: 'developers',
  platformRole: 'developer',
  permissions: ['agent:execute', 'workflow:create', 'mesh:communicate'],
};
const defaults = [administrators, developers, users];

let ground: Ground;
let auth: RunningAuth;
let replica: RunningAuth;
let admin: string;
/** Holds auth:admin and what a user holds, but not `*`. */
let clerk: string;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  replica = await startAuth(ground);
  admin = await auth.adminToken();
  for (const [username, roles] of [
    ['dora', ['developer']],
    ['una', ['user']],
    ['both', ['developer', 'user']],
  ] as const) {
    const body = { username, password, email: 'u@example.com', name: username, roles };
    await auth.call('POST', '/api/v1/auth/users', { token: admin, body });
  }
  const body = {
    name: 'clerk',
    service: 'clerk',
    permissions: ['auth:admin', 'agent:read', 'workflow:read'],
  };
  const key = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
  clerk = key.body.api_key;
});

beforeEach(async () => {
  expect((await put(defaults)).status).toBe(200);
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function put(mappings: unknown, token = admin, query = '') {
  return auth.call('PUT', `${url}${query}`, { token, body: { mappings } });
}

async function read() {
  return (await auth.call('GET', url, { token: admin })).body.mappings;
}

async function permissionsOf(username: string, service = auth) {
  return decodeJwt((await service.login(username, password)).body.access_token)['permissions'];
}

describe('a change of the group mappings is refused', () => {
  test('without auth:admin', async () => {
    const token = (await auth.login('dora', password)).body.access_token;
    expect((await auth.call('GET', url, { token })).status).toBe(403);
    expect((await put(defaults, token)).status).toBe(403);
    expect((await put(defaults, '')).status).toBe(401);
  });

  const refused: [string, unknown[], number, string][] = [
    ['that maps a group twice', [...defaults, users], 400, 'invalid_mapping'],
    [
      'that hands out the place of a service of the suite',
      [...defaults, { ...users, idpGroup: 'x', permissions: ['suite:peer'] }],
      400,
      'invalid_mapping',
    ],
    [
      'with something that is no permission',
      [administrators, { ...users, permissions: ['all'] }],
      400,
      'validation_error',
    ],
    ['that leaves no group', [], 409, 'last_administrator'],
    [
      'that leaves nobody who may administer',
      [{ ...administrators, permissions: ['agent:*'] }, users],
      409,
      'last_administrator',
    ],
    [
      'that gives administration to a role that nobody has',
      [{ ...administrators, platformRole: 'boss' }, users],
      409,
      'last_administrator',
    ],
  ];
  test.each(refused)('%s', async (_name, mappings, status, code) => {
    for (const query of ['', '?dryRun=true']) {
      const answer = await put(mappings, admin, query);
      expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code });
    }
    expect(await read()).toEqual(defaults);
  });

  test.each([
    ['gives a permission', [...defaults, { ...developers, idpGroup: 'more' }]],
    [
      'maps a group to a mightier role',
      [...defaults, { ...users, idpGroup: 'x', platformRole: 'admin' }],
    ],
    ['takes a mightier role away', [administrators, users]],
    [
      'widens a role of its own',
      [administrators, developers, { ...users, permissions: ['agent:*'] }],
    ],
  ])('when it %s that the administrator lacks', async (_name, mappings) => {
    for (const query of ['', '?dryRun=true']) {
      const answer = await put(mappings, clerk, query);
      expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_permissions']);
    }
    expect(await read()).toEqual(defaults);
  });
});

test('an administrator may change what lies within their own permissions', async () => {
  const narrowed = { ...users, permissions: ['agent:read'] };
  expect((await put([administrators, developers, narrowed], clerk)).status).toBe(200);
  expect(await permissionsOf('una')).toEqual(['agent:read']);
});

test('a dry run says what would change and for whom, and changes nothing', async () => {
  const changed = { ...developers, permissions: ['agent:read', 'mesh:communicate'] };
  const added = { idpGroup: 'ops', platformRole: 'operator', permissions: ['tracer:read'] };
  const answer = await put([administrators, changed, added], admin, '?dryRun=true');
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    dryRun: true,
    added: [added],
    removed: [users],
    changed: [{ idpGroup: 'developers', before: developers, after: changed }],
    affectedTotal: 3,
  });
  const affected = Object.fromEntries(
    answer.body.affectedUsers.map((user: Record<string, unknown>) => [user['username'], user]),
  );
  expect(affected).toMatchObject({
    una: { before: ['agent:read', 'workflow:read'], after: [] },
    dora: { after: ['agent:read', 'mesh:communicate'] },
    both: { after: ['agent:read', 'mesh:communicate'] },
  });
  expect(await read()).toEqual(defaults);
  expect(await permissionsOf('una')).toEqual(['agent:read', 'workflow:read']);
});

test('only users whose permissions differ are affected', async () => {
  const moved = { ...users, permissions: ['workflow:read', 'agent:read'] };
  const same = { ...developers, idpGroup: 'more' };
  const { body } = await put([...defaults.slice(0, 2), moved, same], admin, '?dryRun=true');
  expect(body).toMatchObject({ added: [same], removed: [], changed: [], affectedTotal: 0 });
});

test('a role that an administrator gave stands for what all its mappings have in common', async () => {
  const wide = { ...users, idpGroup: 'x/y', permissions: ['agent:*', 'tracer:read'] };
  await put([...defaults, wide]);
  expect(await permissionsOf('una')).toEqual(['agent:read']);
  await put([administrators, developers, wide]);
  expect(await permissionsOf('una')).toEqual(['agent:*', 'tracer:read']);
  await put([...defaults, { ...users, idpGroup: 'x/y' }]);
  expect(await permissionsOf('una')).toEqual(['agent:read', 'workflow:read']);
});

test('a dry run shows what a role loses by another mapping, and that alone', async () => {
  const other = { ...users, idpGroup: 'x/y', permissions: ['agent:read'] };
  const { body } = await put([...defaults, other], admin, '?dryRun=true');
  expect(body).toMatchObject({ added: [other], affectedTotal: 2 });
  const held = { before: ['agent:read', 'workflow:read'], after: ['agent:read'] };
  expect(body.affectedUsers).toMatchObject([
    { username: 'una', ...held },
    { username: 'both', before: expect.arrayContaining(held.before) },
  ]);
});

test('nobody widens a role by taking a mapping of it away', async () => {
  const narrow = { ...developers, idpGroup: 'x/y', permissions: ['agent:read'] };
  await put([...defaults, narrow]);
  const answer = await put(defaults, clerk);
  expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_permissions']);
});

test('a mapping that would leave the role of all administrators without that is refused', async () => {
  const weak = { ...administrators, idpGroup: 'x/y', permissions: ['agent:*'] };
  const answer = await put([...defaults, weak]);
  expect([answer.status, answer.body.error.code]).toEqual([409, 'last_administrator']);
});

test('a change is in force for the next login, here at once and soon in other replicas', async () => {
  await put([administrators, developers, { ...users, permissions: ['agent:execute'] }]);
  expect(await permissionsOf('una')).toEqual(['agent:execute']);
  await expect
    .poll(() => permissionsOf('una', replica), { interval: 500 })
    .toEqual(['agent:execute']);
});

test('a change is audited with its difference', async () => {
  await put([administrators, developers]);
  const query = '/api/v1/auth/audit?eventType=group_mappings_changed&limit=1';
  const { body } = await auth.call('GET', query, { token: admin });
  expect(body.events[0].metadata).toMatchObject({ added: [], removed: [users], changed: [] });
});

test('who may administer by another role than admin keeps the suite administrable', async () => {
  const boss = { idpGroup: 'bosses', platformRole: 'boss', permissions: ['*'] };
  await put([...defaults, boss]);
  const body = { username: 'bea', password, email: 'b@example.com', name: 'B', roles: ['boss'] };
  expect((await auth.call('POST', '/api/v1/auth/users', { token: admin, body })).status).toBe(201);
  expect((await put([boss, developers, users])).status).toBe(200);
  const token = (await auth.login('bea', password)).body.access_token;
  expect((await put([...defaults, boss], token)).status).toBe(200);
  expect((await auth.login('admin', adminPassword)).status).toBe(200);
});
