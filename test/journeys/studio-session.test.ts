import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

const password = 'correct horse battery staple';
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let ennead: Ennead;
let url: string;
let authUrl: string;

beforeAll(async () => {
  const [made, base] = await Promise.all([temporaryFolder(), freePortBase()]);
  folder = made;
  url = serviceUrl(base, 'studio');
  authUrl = serviceUrl(base, 'auth');
  ennead = startEnnead(['run', 'auth', 'studio'], {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    ENNEAD_TRACER_URL: 'http://127.0.0.1:1',
    ENNEAD_ADMIN_PASSWORD: password,
    AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: '5',
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
    scope: '*',
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

interface Answer {
  readonly access_token: string;
  readonly events: readonly unknown[];
}

/** Logs in at the studio from an address of the loopback. */
async function logInFrom(localAddress: string, { isRight = true } = {}) {
  const headers = { 'content-type': 'application/json', 'user-agent': `from ${localAddress}` };
  const sent = request(`${url}/api/v1/auth/login`, { method: 'POST', localAddress, headers });
  sent.end(JSON.stringify({ username: 'admin', password: isRight ? password : 'wrong horse' }));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, body: (await json(answer)) as Answer };
}

// Other systems have one address of the loopback.
test.runIf(process.platform === 'linux')(
  'the guesses of strangers lock nobody out of an address that is known, and are audited as theirs',
  async () => {
    const { status, body } = await logInFrom('127.44.0.1');
    expect(status).toBe(200);
    const guesses = [];
    for (let at = 0; at < 8; at += 1) {
      guesses.push((await logInFrom(`127.44.1.${at}`, { isRight: false })).status);
    }
    expect(guesses[0]).toBe(401);
    expect(guesses.slice(-3)).toEqual([429, 429, 429]);
    expect((await logInFrom('127.44.0.1')).status).toBe(200);
    const headers = { authorization: `Bearer ${body.access_token}` };
    const audit = await fetch(`${authUrl}/api/v1/auth/audit?limit=100`, { headers });
    const { events } = (await audit.json()) as Answer;
    const seen = (eventType: string, ip: string) =>
      expect.objectContaining({ eventType, ip, userAgent: `from ${ip}` });
    expect(events).toContainEqual(seen('login_success', '127.44.0.1'));
    expect(events).toContainEqual(seen('login_failure', '127.44.1.0'));
    const forged = await fetch(`${authUrl}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-ennead-caller-address': '127.44.0.1' },
      body: JSON.stringify({ username: 'admin', password, client_id: 'c', grant_type: 'password' }),
    });
    expect(forged.status).toBe(401);
  },
);
