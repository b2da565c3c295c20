import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

const url = '/api/v1/auth/sessions';
const password = 'a good password';

let ground: Ground;
let auth: RunningAuth;
let replica: RunningAuth;
let admin: string;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  replica = await startAuth(ground);
  admin = await auth.adminToken();
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

let count = 0;

/** A user with as many sessions as asked for. */
async function createUser(sessions: number) {
  count += 1;
  const username = `user${count}`;
  const body = { username, password, email: 'u@example.com', name: 'U', roles: ['user'] };
  const { body: user } = await auth.call('POST', '/api/v1/auth/users', { token: admin, body });
  const logins = [];
  for (let at = 0; at < sessions; at += 1) {
    const { body: tokens } = await auth.login(username, password);
    const sessionId = String(decodeJwt(tokens.access_token)['sid']);
    logins.push({ token: String(tokens.access_token), refresh: tokens.refresh_token, sessionId });
  }
  return { id: String(user.id), logins };
}

async function isValid(token: string, service = auth): Promise<boolean> {
  const { body } = await service.call('POST', '/api/v1/auth/validate', { body: { token } });
  return body.valid;
}

function idsOf(answer: { body: { sessions: { id: string }[] } }): string[] {
  return answer.body.sessions.map(({ id }) => id);
}

describe('the sessions of others', () => {
  test('are neither shown nor ended without auth:admin', async () => {
    const other = await createUser(1);
    const { logins } = await createUser(1);
    const token = logins[0]?.token;
    const query = `?userId=${other.id}`;
    expect((await auth.call('GET', `${url}${query}`, { token })).status).toBe(403);
    expect((await auth.call('DELETE', `${url}${query}`, { token })).status).toBe(403);
    const one = await auth.call('DELETE', `${url}/${other.logins[0]?.sessionId}`, { token });
    expect([one.status, one.body.error.code]).toEqual([404, 'session_not_found']);
    expect(await isValid(other.logins[0]?.token ?? '')).toBe(true);
  });

  test('are shown and ended with it', async () => {
    const { id, logins } = await createUser(2);
    const shown = await auth.call('GET', `${url}?userId=${id}`, { token: admin });
    expect(shown.body).toMatchObject({ total: 2, sessions: [{ userId: id, current: false }, {}] });
    const ended = await auth.call('DELETE', `${url}?userId=${id}`, { token: admin });
    expect(ended.body).toEqual({ ended: 2 });
    for (const { token } of logins) expect(await isValid(token)).toBe(false);
  });

  test('strangers get nothing', async () => {
    expect((await auth.call('GET', url)).status).toBe(401);
    expect((await auth.call('DELETE', url)).status).toBe(401);
  });
});

test('an unknown or ended session is not found', async () => {
  const { logins } = await createUser(2);
  const [here, there] = logins;
  const end = (id: string | undefined) =>
    auth.call('DELETE', `${url}/${id}`, { token: here?.token });
  expect((await end('ses_x')).status).toBe(404);
  expect((await end(there?.sessionId)).status).toBe(200);
  expect((await end(there?.sessionId)).status).toBe(404);
});

test('a user sees the own open sessions, the newest first, with the one in use marked', async () => {
  const { id, logins } = await createUser(3);
  const token = logins[1]?.token;
  const answer = await auth.call('GET', `${url}?limit=2`, { token });
  expect(answer.body).toMatchObject({ total: 3, limit: 2, offset: 0 });
  expect(answer.body.sessions).toHaveLength(2);
  const all = await auth.call('GET', url, { token });
  expect(idsOf(all)).toEqual(logins.map(({ sessionId }) => sessionId).toReversed());
  expect(all.body.sessions.map(({ current }: { current: boolean }) => current)).toEqual([
    false,
    true,
    false,
  ]);
  expect(all.body.sessions[0]).toMatchObject({ userId: id, clientId: 'test' });
});

test('the last use of a session is its last refresh', async () => {
  const { logins } = await createUser(1);
  const { token, refresh } = logins[0] ?? {};
  const before = (await auth.call('GET', url, { token })).body.sessions[0];
  expect(before.lastUsedAt).toBe(before.createdAt);
  const body = { refresh_token: refresh, grant_type: 'refresh_token' };
  expect((await auth.call('POST', '/api/v1/auth/refresh', { body })).status).toBe(200);
  const after = (await auth.call('GET', url, { token })).body.sessions[0];
  expect(after.createdAt).toBe(before.createdAt);
  expect(after.lastUsedAt > before.lastUsedAt).toBe(true);
});

test('ending a session ends its tokens in every replica, and its refresh token', async () => {
  const { logins } = await createUser(2);
  const [here, there] = logins;
  expect(await isValid(there?.token ?? '', replica)).toBe(true);
  const path = `${url}/${there?.sessionId}`;
  const answer = await auth.call('DELETE', path, { token: here?.token });
  expect(answer.body).toEqual({ id: there?.sessionId, ended: true });
  expect(await isValid(there?.token ?? '')).toBe(false);
  await expect.poll(() => isValid(there?.token ?? '', replica)).toBe(false);
  const body = { refresh_token: there?.refresh, grant_type: 'refresh_token' };
  expect((await auth.call('POST', '/api/v1/auth/refresh', { body })).status).toBe(400);
  expect(await isValid(here?.token ?? '')).toBe(true);
});

test('a user can end all sessions but the one in use', async () => {
  const { logins } = await createUser(3);
  const token = logins[2]?.token ?? '';
  const kept = await auth.call('DELETE', `${url}?except=current`, { token });
  expect(kept.body).toEqual({ ended: 2 });
  expect(idsOf(await auth.call('GET', url, { token }))).toEqual([logins[2]?.sessionId]);
  expect(await isValid(token)).toBe(true);
  expect((await auth.call('DELETE', `${url}?except=all`, { token })).status).toBe(400);
  expect((await auth.call('DELETE', url, { token })).body).toEqual({ ended: 1 });
  expect(await isValid(token)).toBe(false);
});

test('sessions that ended with their signing key are neither shown nor ended', async () => {
  const { id, logins } = await createUser(3);
  const rotated = await auth.call('POST', '/api/v1/auth/keys/rotate', { token: admin });
  const kept = await auth.call('POST', '/api/v1/auth/refresh', {
    body: { refresh_token: logins[0]?.refresh, grant_type: 'refresh_token' },
  });
  expect([rotated.status, kept.status]).toEqual([200, 200]);
  const { previousKid } = rotated.body;
  await auth.call('POST', `/api/v1/auth/keys/${previousKid}/revoke`, { token: admin });
  admin = await auth.adminToken();
  const shown = await auth.call('GET', `${url}?userId=${id}`, { token: admin });
  expect([shown.body.total, idsOf(shown)]).toEqual([1, [logins[0]?.sessionId]]);
  const one = await auth.call('DELETE', `${url}/${logins[1]?.sessionId}`, { token: admin });
  expect([one.status, one.body.error?.code]).toEqual([404, 'session_not_found']);
  const all = await auth.call('DELETE', `${url}?userId=${id}`, { token: admin });
  expect(all.body).toMatchObject({ ended: 1 });
});

test('the end of sessions is audited', async () => {
  const { id, logins } = await createUser(1);
  await auth.call('DELETE', `${url}?userId=${id}`, { token: admin });
  const query = '/api/v1/auth/audit?eventType=session_ended&limit=1';
  const { body } = await auth.call('GET', query, { token: admin });
  const sessionIds = [logins[0]?.sessionId];
  expect(body.events[0].metadata).toMatchObject({ targetUserId: id, sessionIds });
});

test('a token that was narrowed, or comes of an API key, ends no session of its user', async () => {
  const { id, logins } = await createUser(2);
  const [login] = logins;
  const refreshed = await auth.call('POST', '/api/v1/auth/refresh', {
    body: { refresh_token: login?.refresh, grant_type: 'refresh_token', scope: 'agent:read' },
  });
  const key = await auth.call('POST', '/api/v1/auth/api-keys', {
    token: admin,
    body: { name: 'k', service: 's', kind: 'user', userId: id, permissions: ['agent:read'] },
  });
  const traded = await auth.call('POST', '/api/v1/auth/api-key', {
    body: { api_key: key.body.api_key, client_id: 'test' },
  });
  for (const token of [refreshed.body.access_token, traded.body.access_token]) {
    for (const path of [url, `${url}/${login?.sessionId}`]) {
      const { status, body } = await auth.call('DELETE', path, { token });
      expect([status, body.error?.code]).toEqual([403, 'login_session_required']);
    }
  }
  const { body } = await auth.call('GET', url, { token: String(refreshed.body.access_token) });
  expect(body.total).toBe(2);
});
