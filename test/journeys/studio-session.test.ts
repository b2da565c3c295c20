import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

const password = 'correct horse battery staple';
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let ennead: Ennead;
let url: string;

beforeAll(async () => {
  const [made, base] = await Promise.all([temporaryFolder(), freePortBase()]);
  folder = made;
  url = serviceUrl(base, 'studio');
  ennead = startEnnead(['run', 'auth', 'studio'], {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    ENNEAD_TRACER_URL: 'http://127.0.0.1:1',
    ENNEAD_ADMIN_PASSWORD: password,
  });
  await ennead.ready;
});

afterAll(async () => {
  await ennead.stop('SIGKILL');
  await folder.remove();
});

/** Calls the studio with a cookie, as a page of the studio's own would. */
function ask(method: string, path: string, { cookie = '', body, origin = url }: Asked = {}) {
  return fetch(url + path, {
    method,
    headers: { cookie, origin, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

interface Asked {
  readonly cookie?: string;
  readonly body?: object;
  readonly origin?: string;
}

test('a login gives a session cookie that works in the studio until the logout', async () => {
  const wrong = { username: 'admin', password: 'wrong horse' };
  expect((await ask('POST', '/api/v1/auth/login', { body: wrong })).status).toBe(401);
  const login = await ask('POST', '/api/v1/auth/login', { body: { username: 'admin', password } });
  expect(login.status).toBe(200);
  const answer = (await login.json()) as { user: object; expires_in: number };
  expect(answer).toMatchObject({
    expires_in: 3600,
    user: { name: 'Administrator', role: 'Admin' },
  });
  const [given = ''] = login.headers.getSetCookie();
  expect(given).toMatch(/^session=.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/);
  const [cookie = ''] = given.split(';');
  const me = await ask('GET', '/api/v1/auth/me', { cookie });
  expect(await me.json()).toEqual(answer.user);
  const made = { cookie, body: { name: 'Made with a cookie' } };
  const elsewhere = { ...made, origin: 'https://elsewhere.example' };
  expect((await ask('POST', '/api/v1/workspaces', elsewhere)).status).toBe(403);
  expect((await ask('POST', '/api/v1/workspaces', made)).status).toBe(201);
  const logout = await ask('POST', '/api/v1/auth/logout', { cookie });
  expect(await logout.json()).toEqual({ success: true });
  expect(logout.headers.getSetCookie()[0]).toMatch(/^session=; .*Max-Age=0$/);
  // The token is worth nothing any more, also for who kept it.
  await expect.poll(async () => (await ask('GET', '/api/v1/auth/me', { cookie })).status).toBe(401);
});

test('nobody is nobody', async () => {
  expect((await ask('GET', '/api/v1/auth/me')).status).toBe(401);
  expect((await ask('POST', '/api/v1/auth/logout')).status).toBe(401);
});
