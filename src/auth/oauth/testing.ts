import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../kit/config.ts';
import type { Reply, RunningAuth } from '../testing.ts';

/** An identity provider in a process of its own. */
export interface TestProvider extends AsyncDisposable {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly callback: string;
  /** Changes its users or its ways. */
  control(changes: Readonly<Record<string, unknown>>): Promise<void>;
  /** What it saw: how often tokens were refreshed, codes exchanged and users read. */
  seen(): Promise<Seen>;
}

/** Counts of a provider since it started. */
export interface Seen {
  readonly refreshes: number;
  readonly exchanges: number;
  readonly readings: number;
}

/** Starts one of `test/identity-providers` on a free port; OpenID's knows the callback that is given. */
export async function startProvider(
  name: 'gitlab' | 'oidc-provider',
  { callback }: { readonly callback?: string } = {},
): Promise<TestProvider> {
  const script = new URL(`../../../test/identity-providers/${name}.mjs`, import.meta.url);
  const child = spawn(process.execPath, [fileURLToPath(script)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'test', ...(callback && { CALLBACK: callback }) },
  });
  const lines = createInterface({ input: child.stdout });
  const waiting = AbortSignal.timeout(20_000);
  const facts = new Promise<Omit<TestProvider, 'control' | 'seen'>>((resolve) => {
    // Warnings of the provider stand beside the one line that is JSON.
    lines.on('line', (line) => line.startsWith('{') && resolve(JSON.parse(line)));
  });
  const ended = once(child, 'exit', { signal: waiting }).then(() => {
    throw new Error(`the provider ${name} ended`);
  });
  const told = await Promise.race([facts, ended]);
  const { url } = told;
  ended.catch(() => {});
  return {
    ...told,
    control: async (changes) => {
      await fetch(`${url}/control`, { method: 'POST', body: JSON.stringify(changes) });
    },
    seen: async () => {
      const answer = await fetch(`${url}/control`);
      // The provider of this test says nothing else.
      return (await answer.json()) as Seen;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill();
      await gone;
    },
  };
}

/** The environment that makes a provider `idp`. */
export function environmentOf(provider: TestProvider): Environment {
  return {
    AUTH_IDP_URL: provider.url,
    AUTH_IDP_CLIENT_ID: provider.clientId,
    AUTH_IDP_CLIENT_SECRET: provider.clientSecret,
    AUTH_IDP_CALLBACK_URL: provider.callback,
  };
}

/** What `configure` takes for the OpenID provider. */
export function openIdConfig({ url, clientId, clientSecret, callback }: TestProvider) {
  return {
    authorizationURL: `${url}/auth`,
    tokenURL: `${url}/token`,
    userInfoURL: `${url}/me`,
    clientID: clientId,
    clientSecret,
    callbackURL: callback,
    issuer: url,
  };
}

/** A verifier and its S256 challenge (RFC 7636). */
export function newVerifier(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, challenge };
}

/** An address that counts who comes. */
export async function openTrap(): Promise<AsyncDisposable & { url: string; visits: () => number }> {
  let visits = 0;
  const server = createServer((_request, response) => {
    visits += 1;
    response.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    visits: () => visits,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What an address of a scripted provider answers. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A server whose every address answers what it was last given. */
export async function openScripted(): Promise<
  AsyncDisposable & { readonly url: string; answer(path: string, answer: ScriptedAnswer): void }
> {
  const answers = new Map<string, ScriptedAnswer>();
  const server = createServer((request, response) => {
    const { status = 200, headers, body } = answers.get(request.url ?? '') ?? { status: 500 };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answer: (path, answer) => void answers.set(path, answer),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Calls `authorize` with a query. */
export function authorize(auth: RunningAuth, query: Readonly<Record<string, string>>) {
  return auth.call('GET', `/api/v1/auth/oauth/authorize?${new URLSearchParams(query).toString()}`);
}

/** Calls the exchange with an authorization code's fields. */
export function exchange(
  auth: RunningAuth,
  body: Readonly<Record<string, unknown>>,
  cookie?: string,
): Promise<Reply> {
  return auth.call('POST', '/api/v1/auth/oauth/token', {
    body: { grant_type: 'authorization_code', ...body },
    headers: cookie === undefined ? {} : { cookie },
  });
}

/** Goes where the browser is sent, logs in as this user and answers the query that comes back. */
export async function visit(location: string, login: string): Promise<Record<string, string>> {
  const start = new URL(location);
  const callback = start.searchParams.get('redirect_uri') ?? '';
  start.searchParams.set('login', login);
  const cookies = new Map<string, string>();
  let page: Page = { url: start, isForm: false };
  for (let step = 0; step < 12; step += 1) {
    if (page.url.href.startsWith(callback)) return Object.fromEntries(page.url.searchParams);
    page = await turn(page, { login, cookies });
  }
  throw new Error('the provider sends the browser in circles');
}

interface Page {
  readonly url: URL;
  /** It was answered with a form, which is to be sent. */
  readonly isForm: boolean;
}

/** One request of the browser. */
async function turn(
  { url, isForm }: Page,
  { login, cookies }: { readonly login: string; readonly cookies: Map<string, string> },
): Promise<Page> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const decision = login === 'nobody' ? 'deny' : 'allow';
  const form = { method: 'POST', body: new URLSearchParams({ login, decision }) };
  const answer = await fetch(url, {
    ...(isForm ? form : {}),
    redirect: 'manual',
    headers: { cookie },
  });
  for (const line of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  const next = answer.headers.get('location');
  const text = await answer.text();
  if (next !== null) return { url: new URL(next, url), isForm: false };
  if (text.includes('<form')) return { url, isForm: true };
  throw new Error(`${url.href} ${answer.status} ${text}`);
}

/** The whole login of a user, the caller keeping the verifier. */
export async function logIn(
  auth: RunningAuth,
  login: string,
  provider = 'idp',
): Promise<{ reply: Reply; verifier: string; code: string }> {
  const { verifier, challenge } = newVerifier();
  const begun = await authorize(auth, {
    provider,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const { code = '' } = await visit(String(begun.headers['location']), login);
  const reply = await exchange(auth, { code, code_verifier: verifier, client_id: 'test' });
  return { reply, verifier, code };
}
