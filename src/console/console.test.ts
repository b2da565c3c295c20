import { once } from 'node:events';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  adminPassword,
  openGround,
  startAuth,
  type Ground,
  type RunningAuth,
} from '../auth/testing.ts';
import { findFreePort, listenAnywhere } from '../kit/testing.ts';
import { Console } from './console.ts';
import { Cookies, ownTokenOf } from './testing.ts';

let ground: Ground;
let auth: RunningAuth;
let console: Console;
let url: string;
let folder: string;

beforeAll(async () => {
  ground = await openGround();
  const peers = [{ name: 'console', url: 'http://127.0.0.1:7400', grants: [] }];
  auth = await startAuth(ground, { peers });
  folder = await mkdtemp(join(tmpdir(), 'ennead-console-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<title>Ennead</title>');
  await writeFile(join(folder, 'assets', 'index-1234.js'), '1');
  await writeFile(join(folder, 'assets', 'index-1234.js.gz'), gzipSync('1'));
  console = await Console.open({
    services: [
      { name: 'auth', url: await listenAnywhere(auth.host.http) },
      { name: 'chat', url: `http://127.0.0.1:${await findFreePort()}` },
    ],
    checkHealth: async () => [],
    ownToken: ownTokenOf(ground, auth),
    pagesFolder: folder,
  });
  url = await console.listen('127.0.0.1', 0);
});

afterAll(async () => {
  await console[Symbol.asyncDispose]();
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

let cookies: Cookies;

beforeEach(() => {
  cookies = new Cookies();
});

interface Asking {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As a page of the console asks. */
async function ask(path: string, { method = 'GET', body, headers }: Asking = {}) {
  const response = await fetch(url + path, {
    method,
    headers: {
      cookie: cookies.header,
      'sec-fetch-site': 'same-origin',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  cookies.take(response);
  return response;
}

const credentials = { username: 'admin', password: adminPassword };
const foreign = { 'sec-fetch-site': 'cross-site', origin: 'http://evil.test' };

async function logIn(): Promise<void> {
  expect((await ask('/session', { method: 'POST', body: credentials })).status).toBe(200);
}

describe('the session', () => {
  test('begins with a name and a password, in cookies that no script reads', async () => {
    const response = await ask('/session', { method: 'POST', body: credentials });
    expect(await response.json()).toMatchObject({ preferred_username: 'admin' });
    const [session, refresh] = response.headers.getSetCookie();
    expect(session).toMatch(/^session=.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
    expect(refresh).toMatch(/^refresh=.+; Path=\/session; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await (await ask('/session')).json()).toMatchObject({ permissions: ['*'] });
  });

  test('is told to auth as that of the browser, not of the console', async () => {
    const headers = { 'user-agent': 'Browser/7' };
    await ask('/session', { method: 'POST', body: credentials, headers });
    const audit = await ask('/services/auth/api/v1/auth/audit?limit=1');
    const { events } = (await audit.json()) as { events: unknown[] };
    expect(events[0]).toMatchObject({ eventType: 'login_success', userAgent: 'Browser/7' });
  });

  test('goes over TLS only where the browser came over TLS', async () => {
    const origin = url.replace('http:', 'https:');
    const response = await ask('/session', {
      method: 'POST',
      body: credentials,
      headers: { origin },
    });
    for (const cookie of response.headers.getSetCookie()) expect(cookie).toMatch(/; Secure$/);
  });

  test.each([
    [{ username: 'admin', password: 'wrong' }, 401, 'invalid_credentials'],
    [{ username: 'admin' }, 400, 'invalid'],
    [{}, 400, 'invalid'],
  ])('is refused to %j', async (body, status, code) => {
    const response = await ask('/session', { method: 'POST', body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ success: false, error: { code } });
    expect(cookies.header).toBe('');
  });

  test.each(['POST', 'DELETE'])("is no matter of a stranger's page: %s", async (method) => {
    await logIn();
    const body = method === 'POST' ? { body: credentials } : {};
    const response = await ask('/session', { method, headers: foreign, ...body });
    expect(response.status).toBe(403);
    expect((await ask('/session')).status).toBe(200);
  });

  test('goes on with the refresh token when the access token has run out', async () => {
    await logIn();
    cookies.delete('session');
    expect((await ask('/session')).status).toBe(401);
    expect((await ask('/session/refresh', { method: 'POST' })).status).toBe(200);
    expect((await ask('/session')).status).toBe(200);
  });

  test('is kept when it was renewed too often to be renewed now', async () => {
    await logIn();
    let response: Response;
    do {
      response = await ask('/session/refresh', { method: 'POST' });
    } while (response.ok);
    expect([response.status, response.headers.getSetCookie()]).toEqual([429, []]);
    expect((await ask('/session')).status).toBe(200);
  });

  test.each(['', 'refresh=', 'refresh=nonsense', 'refresh=a.b.c'])(
    'cannot be renewed with the cookie %j, which is forgotten',
    async (cookie) => {
      const response = await ask('/session/refresh', { method: 'POST', headers: { cookie } });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { code: 'session_ended' } });
    },
  );

  test('ends: neither token is good after it', async () => {
    await logIn();
    const kept = cookies.header;
    expect((await ask('/session', { method: 'DELETE' })).status).toBe(200);
    expect(cookies.header).toBe('');
    const renewed = await ask('/session/refresh', { method: 'POST', headers: { cookie: kept } });
    expect(renewed.status).toBe(401);
    const used = await ask('/services/auth/api/v1/auth/users', { headers: { cookie: kept } });
    expect(used.status).toBe(401);
  });
});

describe('the services below the console', () => {
  const users = '/services/auth/api/v1/auth/users';

  test('are asked with the session, and refuse who has none', async () => {
    expect((await ask(users)).status).toBe(401);
    await logIn();
    expect(await (await ask(users)).json()).toMatchObject({ total: 1 });
  });

  test('are asked with a token of the caller too', async () => {
    const authorization = `Bearer ${await auth.adminToken()}`;
    expect((await ask(users, { headers: { authorization } })).status).toBe(200);
  });

  test("change nothing for a stranger's page", async () => {
    await logIn();
    const body = { username: 'mallory', password: 'a password for mallory', roles: ['admin'] };
    const response = await ask(users, { method: 'POST', body, headers: foreign });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'origin_refused' } });
    expect(await (await ask(users)).json()).toMatchObject({ total: 1 });
  });

  test('take what is written, and keep their own refusals', async () => {
    await logIn();
    const response = await ask(users, { method: 'POST', body: { username: 'x' } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: expect.any(String) } });
  });

  test('take a body that its sender holds back until it is asked for', async () => {
    const request = sendRequest(`${url}/services/auth/api/v1/auth/validate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', expect: '100-continue' },
    });
    request.once('continue', () => request.end('{"token": "none"}'));
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  test('answer data, which no browser runs as a page of the console', async () => {
    const response = await ask('/services/auth/docs');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each([
    '/services/auth/..%2f..%2fhealth',
    '/services/auth/api/..%2f..%2fhealth',
    '/services/nobody/health',
  ])('are none at %s', async (path) => {
    expect((await ask(path)).status).toBeGreaterThanOrEqual(400);
  });

  test('that do not answer are said to', async () => {
    const response = await ask('/services/chat/health');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      success: false,
      error: { code: 'unavailable', message: 'chat does not answer' },
    });
  });
});

describe('the pages', () => {
  test('stand behind every path that is nothing else, and run only what is their own', async () => {
    for (const path of ['/', '/traces/0123', '/workflows?x=1']) {
      const response = await ask(path);
      expect(await response.text()).toContain('<title>Ennead</title>');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
      expect(response.headers.get('cache-control')).toBe('no-cache');
    }
  });

  test('are kept by browsers where their names hold their content', async () => {
    const response = await ask('/assets/index-1234.js');
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect((await ask('/assets/index-9999.js')).status).toBe(404);
  });

  test('come compressed to who takes that, as the build left them', async () => {
    for (const encoding of ['gzip', 'identity']) {
      const headers = { 'accept-encoding': encoding };
      const response = await ask('/assets/index-1234.js', { headers });
      expect(await response.text()).toBe('1');
      expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding);
      expect(response.headers.get('content-type')).toContain('javascript');
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect(response.headers.get('vary')).toBe('accept-encoding');
    }
  });
});
