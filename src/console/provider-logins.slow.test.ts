import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openIdConfig, startProvider, visit, type TestProvider } from '../auth/oauth/testing.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../auth/testing.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import { listenAnywhere, silentLog } from '../kit/testing.ts';
import { Console } from './console.ts';
import { Cookies, ownTokenOf } from './testing.ts';

const lifetime = new Lifetime(silentLog);
let ground: Ground;
let auth: RunningAuth;
let provider: TestProvider;
let url: string;
let cookies: Cookies;

beforeAll(async () => {
  ground = lifetime.own('the ground', await openGround());
  const peers = [{ name: 'console', url: 'http://127.0.0.1:7400', grants: [] }];
  auth = lifetime.own('auth', await startAuth(ground, { peers }));
  const console = lifetime.own(
    'the console',
    await Console.open({
      services: [{ name: 'auth', url: await listenAnywhere(auth.host.http) }],
      checkHealth: async () => [],
      ownToken: ownTokenOf(ground, auth),
    }),
  );
  url = await console.listen('127.0.0.1', 0);
  const callback = `${url}/session/callback`;
  provider = lifetime.own('the provider', await startProvider('oidc-provider', { callback }));
  const body = { provider: 'acme', config: openIdConfig(provider) };
  const token = await auth.adminToken();
  const configured = await auth.call('POST', '/api/v1/auth/oauth/configure', { token, body });
  expect(configured.body).toMatchObject({ configured: true });
});

afterAll(() => lifetime[Symbol.asyncDispose]());

beforeEach(() => {
  cookies = new Cookies();
});

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { cookie: cookies.header, ...(init.headers as Record<string, string>) };
  const response = await fetch(url + path, { ...init, headers, redirect: 'manual' });
  cookies.take(response);
  return response;
}

/** As a page of the console begins a login. */
function begin(body: object, origin: string | undefined = url): Promise<Response> {
  return ask('/session/provider', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(origin ? { origin } : {}) },
  });
}

async function beginAt(to?: string): Promise<string> {
  const response = await begin({ provider: 'acme', ...(to === undefined ? {} : { to }) });
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly location: string }).location;
}

const comeBack = (query: Readonly<Record<string, string>>) =>
  ask(`/session/callback?${new URLSearchParams(query)}`);

const codeOf = async (response: Response) =>
  ((await response.json()) as { readonly error: { readonly code: string } }).error.code;

describe('a login through a provider', () => {
  test('is offered by its name, beside the password', async () => {
    const answer = await ask('/session/methods');
    expect(await answer.json()).toEqual({ password: true, providers: ['acme'] });
  });

  test('leads there and back to the page where it began, with a session', async () => {
    const answer = await comeBack(await visit(await beginAt('/traces?status=error'), 'alice'));
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/traces?status=error');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const person = await ask('/session');
    expect(await person.json()).toMatchObject({ preferred_username: 'alice' });
    expect(cookies.header).not.toContain('login=');
  });

  test('keeps what it needs where no script reads it, and no longer than a login takes', async () => {
    const begun = await begin({ provider: 'acme' });
    const [cookie] = begun.headers.getSetCookie();
    expect(cookie).toMatch(
      /^login=[\w-]+; Path=\/session\/callback; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
  });

  test.each([
    ['//evil.test/', '/'],
    ['https://evil.test/', '/'],
    ['/\\evil.test', '/'],
    [undefined, '/'],
  ])('that is to go on at %s goes on at %s', async (to, expected) => {
    const answer = await comeBack(await visit(await beginAt(to), 'bob'));
    expect(answer.headers.get('location')).toBe(expected);
  });

  test('says that it was refused there', async () => {
    const answer = await comeBack(await visit(await beginAt('/chat'), 'nobody'));
    expect(answer.headers.get('location')).toBe('/?login_failed=access_denied');
    expect((await ask('/session')).status).toBe(401);
  });

  test('that this browser did not begin gives it no session', async () => {
    const stolen = await visit(await beginAt(), 'alice');
    cookies = new Cookies();
    const without = await comeBack(stolen);
    expect(without.headers.get('location')).toBe('/?login_failed=login_not_begun');
    await beginAt();
    const other = await comeBack(stolen);
    expect(other.headers.get('location')).toBe('/?login_failed=login_not_begun');
    expect((await ask('/session')).status).toBe(401);
  });

  test('with a code that was used gives no second session', async () => {
    const query = await visit(await beginAt(), 'bob');
    const kept = cookies.header;
    await comeBack(query);
    cookies = new Cookies();
    const again = await fetch(`${url}/session/callback?${new URLSearchParams(query)}`, {
      headers: { cookie: kept },
      redirect: 'manual',
    });
    expect(again.headers.get('location')).toMatch(/^\/\?login_failed=/);
  });

  test.each([
    ['by a stranger’s page', { provider: 'acme' }, 'http://evil.test', 403, 'origin_refused'],
    ['by no browser', { provider: 'acme' }, '', 400, 'origin_missing'],
    ['at a provider that nobody knows', { provider: 'none' }, undefined, 400, 'unknown_provider'],
    ['without a provider', {}, undefined, 400, 'invalid'],
  ])('begun %s is refused', async (_how, body, origin, status, code) => {
    const answer = await begin(body, origin);
    expect([answer.status, await codeOf(answer)]).toEqual([status, code]);
  });
});

test('where auth takes no password only the providers are offered', async () => {
  await using strict = await startAuth(ground, { environment: { AUTH_PASSWORD_LOGIN: 'off' } });
  const { body } = await strict.call('GET', '/api/v1/auth/login-methods');
  expect(body).toEqual({ password: false, providers: ['acme'] });
});
