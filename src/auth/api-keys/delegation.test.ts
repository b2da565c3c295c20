import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

let ground: Ground;
let auth: RunningAuth;
let admin: string;
let delegate: string;

const url = '/api/v1/auth/api-keys';
const held = ['auth:delegate', 'mesh:communicate', 'registry:call'];

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  admin = await auth.adminToken();
  delegate = await tokenOf(
    (await create(admin, { service: 'yard', permissions: held })).body.api_key,
  );
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function create(token: string, changes: object = {}) {
  const body = { name: 'an agent', service: 'yard-a', permissions: ['mesh:communicate'] };
  return auth.call('POST', url, { token, body: { ...body, ...changes } });
}

async function exchange(api_key: string) {
  return auth.call('POST', '/api/v1/auth/api-key', { body: { api_key, client_id: 'test' } });
}

async function tokenOf(apiKey: string): Promise<string> {
  return (await exchange(apiKey)).body.access_token;
}

describe('a service with auth:delegate is refused', () => {
  test.each([
    ['a permission that it does not hold', { permissions: ['workflow:create'] }],
    ['the permission to delegate', { permissions: ['auth:delegate'] }],
    ['its whole area', { permissions: ['auth:*'] }],
    ['all permissions', { permissions: ['*'] }],
    ['what only the suite’s services hold', { permissions: ['suite:peer'] }],
    ['its own name', { service: 'yard' }],
    ['a name that only begins like its own', { service: 'yards-a' }],
    ['the name of another', { service: 'other-a' }],
    ['the key of a user', { userId: 'usr_someone' }],
  ])('%s', async (_what, changes) => {
    expect((await create(delegate, changes)).status).toBe(403);
  });

  test('keys that others made: they are not there', async () => {
    const { body } = await create(admin, { service: 'yard-b' });
    expect((await auth.call('GET', `${url}/${body.id}`, { token: delegate })).status).toBe(404);
    expect((await auth.call('DELETE', `${url}/${body.id}`, { token: delegate })).status).toBe(404);
    expect((await exchange(body.api_key)).status).toBe(200);
  });

  test('the rotation of a key, also of its own', async () => {
    const { body } = await create(delegate);
    const answer = await auth.call('POST', `${url}/${body.id}/rotate`, { token: delegate });
    expect([answer.status, answer.body.error.details.required]).toEqual([403, 'auth:admin']);
  });

  test('all other administration', async () => {
    expect((await auth.call('GET', '/api/v1/auth/users', { token: delegate })).status).toBe(403);
  });
});

test('the owner of the suite\u2019s own keys is no name that a service can have', async () => {
  const answer = await create(admin, { service: 'suite', permissions: ['auth:delegate'] });
  expect([answer.status, answer.body.error.code]).toEqual([409, 'service_name_reserved']);
});

test('a key of that name that was there before ends, with its tokens', async () => {
  const { body } = await create(admin, { service: 'elsewhere', permissions: ['auth:delegate'] });
  await ground.database.query("update auth.api_keys set service = 'suite' where id = $1", [
    body.id,
  ]);
  const migration = new URL('../migrations/013-suite-owner.sql', import.meta.url);
  await ground.database.query(await readFile(migration, 'utf8'));
  expect((await exchange(body.api_key)).status).toBe(401);
  const ended = "select kind from auth.revocations where id = 'suite'";
  expect(await ground.database.query(ended)).toEqual([{ kind: 'subject' }]);
});

describe('a service with auth:delegate', () => {
  test('makes keys that speak for a subject below its own and can do no more', async () => {
    const { status, body } = await create(delegate, { service: 'yard-agent' });
    expect([status, body.kind, body.ownerId]).toEqual([201, 'service', 'yard']);
    const traded = await exchange(body.api_key);
    expect(traded.body).toMatchObject({
      service: 'yard-agent',
      permissions: ['mesh:communicate'],
    });
    const answer = await create(traded.body.access_token, { service: 'yard-agent-b' });
    expect(answer.status).toBe(403);
  });

  test('lists its own keys alone, and revokes them with their tokens', async () => {
    const { body } = await create(delegate, { service: 'yard-gone' });
    const token = await tokenOf(body.api_key);
    const listed = await auth.call('GET', `${url}?limit=100`, { token: delegate });
    const owners = listed.body.apiKeys.map(({ ownerId }: { ownerId: string }) => ownerId);
    expect(new Set(owners)).toEqual(new Set(['yard']));
    expect(listed.body.total).toBe(owners.length);
    const revoked = await auth.call('DELETE', `${url}/${body.id}`, { token: delegate });
    expect(revoked.status).toBe(200);
    const validity = await auth.call('POST', '/api/v1/auth/validate', { body: { token } });
    expect(validity.body).toMatchObject({ valid: false, error: 'token_revoked' });
    expect((await exchange(body.api_key)).status).toBe(401);
  });

  test('leaves its name in the audit log', async () => {
    const { body } = await create(delegate, { service: 'yard-seen' });
    const audit = await auth.call('GET', '/api/v1/auth/audit?limit=100&eventType=api_key_created', {
      token: admin,
    });
    const found = JSON.stringify(audit.body.events ?? audit.body).includes(body.id);
    expect(found).toBe(true);
  });
});
