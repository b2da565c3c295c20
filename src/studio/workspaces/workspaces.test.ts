import { existsSync } from 'node:fs';
import { openBus } from '../../kit/bus/open-bus.ts';
import { createTestIssuer, silentLog } from '../../kit/testing.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { caller, startStudio } from '../testing.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;
const url = '/api/v1/workspaces';

beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio[Symbol.asyncDispose]());

describe('A workspace', () => {
  test('is created with a folder and its owner as Admin', async () => {
    const ada = await studio.callAs('usr_ada');
    const { status, body } = await ada('POST', url, {
      name: 'Engine',
      description: 'analytical',
      settings: { testCommand: ['node', '--test'], quotaBytes: 1_000 },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^wsp_/),
      name: 'Engine',
      description: 'analytical',
      ownerId: 'usr_ada',
      members: [{ userId: 'usr_ada', role: 'Admin' }],
      path: expect.stringContaining(body.id),
      settings: { testCommand: ['node', '--test'], quotaBytes: 1_000 },
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    });
    expect(existsSync(body.path)).toBe(true);
    expect((await ada('GET', `${url}/${body.id}`)).body).toEqual(body);
  });

  test('does not exist for those who are no members of it', async () => {
    const ada = await studio.callAs('usr_ada');
    const bob = await studio.callAs('usr_bob');
    const { body } = await ada('POST', url, { name: 'Secret' });
    for (const [method, change] of [['GET'], ['PUT', { name: 'x' }], ['DELETE']] as const) {
      const refused = await bob(method, `${url}/${body.id}`, change);
      expect(refused.status).toBe(404);
      expect(refused.body.error.code).toBe('WORKSPACE_NOT_FOUND');
    }
    const listed = await bob('GET', url);
    expect(listed.body.workspaces).toEqual([]);
    const root = await studio.callAs('usr_root', ['*']);
    expect((await root('GET', `${url}/${body.id}`)).status).toBe(200);
  });

  test('is changed by those whose role allows it', async () => {
    const ada = await studio.callAs('usr_ada');
    const { body } = await ada('POST', url, {
      name: 'Shared',
      members: [
        { userId: 'usr_dev', role: 'Developer' },
        { userId: 'usr_guest', role: 'Guest' },
        { userId: 'usr_ada', role: 'Guest' },
      ],
    });
    expect(body.members).toContainEqual({ userId: 'usr_ada', role: 'Admin' });
    const developer = await studio.callAs('usr_dev');
    const guest = await studio.callAs('usr_guest');
    const path = `${url}/${body.id}`;
    expect((await developer('PUT', path, { name: 'Ours' })).body.name).toBe('Ours');
    for (const change of [{ members: [] }, { settings: {} }]) {
      const refused = await developer('PUT', path, change);
      expect(refused.status).toBe(403);
      expect(refused.body.error.details).toMatchObject({
        role: 'Developer',
        required: expect.stringMatching(/^settings:/),
        userPermissions: expect.arrayContaining(['code:edit']),
      });
    }
    expect((await developer('DELETE', path)).status).toBe(403);
    expect((await guest('GET', path)).status).toBe(200);
    expect((await guest('PUT', path, { name: 'Mine' })).status).toBe(403);
    const left = await ada('PUT', path, { members: [] });
    expect(left.body.members).toEqual([{ userId: 'usr_ada', role: 'Admin' }]);
    expect((await developer('GET', path)).status).toBe(404);
  });

  test('shows its settings to roles that may see them', async () => {
    const ada = await studio.callAs('usr_ada');
    const seeing = ['Admin', 'Developer', 'Reviewer'] as const;
    const others = ['Viewer', 'Guest'] as const;
    const settings = { model: 'large' };
    const { body } = await ada('POST', url, {
      name: 'Set up',
      members: [...seeing, ...others].map((role) => ({ userId: `usr_a_${role}`, role })),
      settings,
    });
    const shownTo = async (role: string) => {
      const call = await studio.callAs(`usr_a_${role}`);
      const listed = (await call('GET', url)).body.workspaces[0];
      expect((await call('GET', `${url}/${body.id}`)).body).toEqual(listed);
      return listed;
    };
    for (const role of seeing) expect(await shownTo(role)).toMatchObject({ settings });
    for (const role of others) expect(await shownTo(role)).not.toHaveProperty('settings');
  });

  test('is deleted with its folder, and then exists for nobody', async () => {
    const ada = await studio.callAs('usr_ada');
    const { body } = await ada('POST', url, { name: 'Short-lived' });
    const path = `${url}/${body.id}`;
    expect((await ada('DELETE', path)).body).toEqual({ id: body.id, deleted: true });
    expect(existsSync(body.path)).toBe(false);
    expect((await ada('GET', path)).status).toBe(404);
    expect((await ada('DELETE', path)).status).toBe(404);
  });

  test('keeps each of many changes at the same time', async () => {
    const ada = await studio.callAs('usr_ada');
    const { body } = await ada('POST', url, { name: 'Busy' });
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => ada('PUT', `${url}/${body.id}`, { name })),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.length).toBeGreaterThan(0);
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const { body: now } = await ada('GET', `${url}/${body.id}`);
    const newest = taken.toSorted((x, y) => (x.body.updatedAt < y.body.updatedAt ? 1 : -1))[0];
    expect(now).toEqual(newest?.body);
  });

  test.each([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a blank name', { name: ' \t' }],
    ['a name that no database keeps', { name: 'a\u0000b' }],
    ['an unknown role', { name: 'x', members: [{ userId: 'u', role: 'King' }] }],
    ['an unknown setting', { name: 'x', settings: { rootAccess: true } }],
    ['a command that is no list', { name: 'x', settings: { testCommand: 'rm -rf /' } }],
  ])('is not created with %s', async (_, given) => {
    const ada = await studio.callAs('usr_ada');
    const { status, body } = await ada('POST', url, given);
    expect(status).toBe(400);
    expect(body.error.code).toMatch(/^(VALIDATION_ERROR|INVALID_JSON)$/);
  });
});

test('a listing pages from the newest, and counts all', async () => {
  const eve = await studio.callAs('usr_eve');
  const ids: string[] = [];
  for (const name of ['1', '2', '3']) ids.unshift((await eve('POST', url, { name })).body.id);
  const { body } = await eve('GET', `${url}?limit=2&offset=1`);
  expect(body).toMatchObject({ total: 3, limit: 2, offset: 1 });
  expect(body.workspaces.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1));
  expect((await eve('GET', `${url}?limit=1000`)).status).toBe(400);
  expect((await caller(studio.url)('GET', url)).status).toBe(401);
});

test('another replica sees a change at once, and no member who has left', async () => {
  await using bus = await openBus({ log: silentLog });
  const issuer = await createTestIssuer();
  const { database } = studio;
  await using one = await startStudio({ database, bus, issuer });
  await using two = await startStudio({ database, bus, issuer });
  const ada = await one.callAs('usr_ada');
  const bob = await two.callAs('usr_bob');
  const members = [{ userId: 'usr_bob', role: 'Viewer' }];
  const { body } = await ada('POST', url, { name: 'Both', members });
  expect((await bob('GET', `${url}/${body.id}`)).status).toBe(200);
  await ada('PUT', `${url}/${body.id}`, { members: [] });
  expect((await bob('GET', `${url}/${body.id}`)).status).toBe(404);
});
