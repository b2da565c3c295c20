import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../kit/ids.ts';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import type { AuthTables, Sql, UserRow } from '../tables.ts';
import { Openings } from './openings.ts';

const password = 'a good password';

let ground: Ground;
let auth: RunningAuth;
let sql: Sql;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  sql = ground.database.kysely<AuthTables>('auth');
  const token = await auth.adminToken();
  for (const username of ['ada', 'grace', 'mallory']) {
    const email = `${username}@example.com`;
    const body = { username, password, email, name: username, roles: ['user'] };
    const { body: user } = await auth.call('POST', '/api/v1/auth/users', { token, body });
    const change = { disabled: username === 'mallory' };
    await auth.call('PATCH', `/api/v1/auth/users/${user.id}`, { token, body: change });
  }
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function logIn(username: string, given: string) {
  const body = { username, password: given, client_id: 'crowd', grant_type: 'password' };
  return auth.call('POST', '/api/v1/auth/login', { body });
}

function userOf(username: string): Promise<UserRow> {
  const user = sql.selectFrom('users').selectAll().where('username', '=', username);
  return user.executeTakeFirstOrThrow();
}

/** The crowd's events in the order of the chain. */
async function eventsOf(clientId: string) {
  const token = await auth.adminToken();
  const { body } = await auth.call('GET', `/api/v1/auth/audit?clientId=${clientId}`, { token });
  return (body.events as { eventType: string; userId: string }[]).toReversed();
}

function openingOf(user: UserRow, passwordHash: string | null) {
  const now = new Date();
  return {
    session: {
      id: newId('ses'),
      user_id: user.id,
      client_id: 'group',
      created_at: now,
      expires_at: new Date(now.getTime() + 60_000),
      token_hash: randomBytes(32),
      token_kid: null,
    },
    passwordHash,
    record: {
      event_type: 'login_success' as const,
      user_id: user.id,
      occurred_at: now,
      ip: '127.0.0.1',
      user_agent: '',
      client_id: 'group',
      metadata: { mfa: false, provider: 'password' },
    },
  };
}

test('logins at once are answered each for itself', async () => {
  const crowd = [
    ['ada', password],
    ['mallory', password],
    ['grace', password],
    ['ada', 'wrong'],
    ['nobody', password],
    ['admin', adminPassword],
    ['grace', password],
    ['ada', password],
  ] as const;
  const replies = await Promise.all(crowd.map(([name, given]) => logIn(name, given)));
  expect(replies.map(({ status }) => status)).toEqual([200, 401, 200, 401, 401, 200, 200, 200]);
  for (const [at, { status, body }] of replies.entries()) {
    if (status !== 200) continue;
    const { body: told } = await auth.call('POST', '/api/v1/auth/validate', {
      body: { token: body.access_token },
    });
    expect(told.payload.user.name.toLowerCase()).toContain(crowd[at]?.[0].slice(0, 3));
  }
  const events = await eventsOf('crowd');
  expect(events.filter(({ eventType }) => eventType === 'login_success')).toHaveLength(5);
  expect(events.filter(({ eventType }) => eventType === 'login_failure')).toHaveLength(3);
});

test('of a group only those open whose user is as the password check saw them', async () => {
  const [ada, grace, mallory] = await Promise.all(['ada', 'grace', 'mallory'].map(userOf));
  if (!ada || !grace || !mallory) throw new Error('the users are missing');
  await using openings = new Openings(sql);
  const group = [
    openingOf(mallory, mallory.password_hash),
    openingOf(grace, grace.password_hash),
    openingOf(ada, 'an older hash'),
    openingOf(ada, ada.password_hash),
    openingOf(ada, null),
    openingOf(grace, grace.password_hash),
  ];
  const answers = await Promise.all(group.map((opening) => openings.ask(opening)));
  const numbers = answers.map((answer) => answer?.seq);
  const [, first = 0] = numbers;
  expect(first).toBeGreaterThan(0);
  expect(numbers).toEqual([undefined, first, undefined, first + 1, undefined, first + 2]);
  const opened = await sql
    .selectFrom('sessions')
    .select('id')
    .where('client_id', '=', 'group')
    .execute();
  const welcome = [1, 3, 5].map((at) => group[at]?.session.id);
  expect(new Set(opened.map(({ id }) => id))).toEqual(new Set(welcome));
  const events = await eventsOf('group');
  expect(events.map(({ userId }) => userId)).toEqual([grace.id, ada.id, grace.id]);
  const token = await auth.adminToken();
  const { body: chain } = await auth.call('GET', '/api/v1/auth/audit/verify', { token });
  expect(chain.valid).toBe(true);
});

test('who was changed since the password check gets what they may by now', async () => {
  const ada = await userOf('ada');
  await using openings = new Openings(sql);
  const changed = { roles: ['developer'], token_epoch: ada.token_epoch + 1 };
  await sql.updateTable('users').set(changed).where('id', '=', ada.id).execute();
  const opened = await openings.ask(openingOf(ada, ada.password_hash));
  expect(opened?.user).toEqual({
    id: ada.id,
    email: ada.email,
    name: ada.name,
    groups: null,
    ...changed,
  });
});

test('replicas that open sessions of the same users at once do not wait in a circle', async () => {
  const template = await userOf('ada');
  const many = Array.from({ length: 100 }, (_, at) => {
    return { ...template, id: `usr_${at}`, username: `user ${at}`, username_key: `user ${at}` };
  });
  await sql.insertInto('users').values(many).execute();
  await using here = new Openings(sql);
  await using there = new Openings(sql);
  const openAll = (openings: Openings, users: readonly UserRow[]) =>
    users.map((user) => openings.ask(openingOf(user, user.password_hash)));
  for (let round = 0; round < 10; round += 1) {
    const opened = [...openAll(here, many), ...openAll(there, many.toReversed())];
    for (const answer of await Promise.all(opened)) expect(answer?.seq).toBeGreaterThan(0);
  }
});
