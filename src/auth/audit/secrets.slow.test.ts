import { generate } from 'otplib';
import { pino } from 'pino';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { authContract } from '../contract.ts';
import type { AuditEventType } from '../events.ts';
import { environmentOf, newVerifier, startProvider, visit } from '../oauth/testing.ts';
import type { TestProvider } from '../oauth/testing.ts';
import {
  adminPassword,
  openGround,
  readSigningKey,
  startAuth,
  type CallOptions,
  type Ground,
  type Reply,
  type RunningAuth,
} from '../testing.ts';

const base = '/api/v1/auth';
const stepMs = 30_000;
const lifetime = new Lifetime(silentLog);
const lines: string[] = [];
const refusals: Reply[] = [];
const called = new Set<string>();
/** All secrets that were sent or answered, by what they are. */
const secrets = new Map<string, string>();

let ground: Ground;
let auth: RunningAuth;
let provider: TestProvider;
let admin: string;

// Nothing is cut out of these lines, as the log of a process would do with some fields.
const sink = new Writable({
  write: (chunk, _encoding, done) => {
    lines.push(String(chunk));
    done();
  },
});
const log = pino({ level: 'trace' }, sink);

type Method = Parameters<RunningAuth['call']>[0];

/** Calls a route and notes which one; its refusals are searched like the log. */
async function call(method: Method, path: string, options: CallOptions = {}): Promise<Reply> {
  const reply = await auth.call(method, path, options);
  const [plain = ''] = path.split('?');
  for (const [name, route] of Object.entries(authContract.routes)) {
    const pattern = new RegExp(`^${route.url.replaceAll(/:\w+/g, '[^/]+')}$`);
    if (route.method === method && pattern.test(plain)) called.add(name);
  }
  if (reply.status >= 400) refusals.push(reply);
  return reply;
}

/** Notes a secret; answers it. */
function secret(what: string, text: unknown): string {
  expect(text, what).toEqual(expect.stringMatching(/.{6}/));
  secrets.set(`${what} (${secrets.size})`, String(text));
  return String(text);
}

function noteTokens(body: Reply['body'], what: string): void {
  // The last part of a token is its signature, without which it is none.
  for (const name of ['access_token', 'refresh_token']) {
    if (body?.[name]) secret(`${name} of ${what}`, String(body[name]).split('.').at(-1));
  }
}

async function post(path: string, body: object, token?: string): Promise<Reply['body']> {
  return (await call('POST', `${base}/${path}`, { token, body })).body;
}

async function logIn(username: string, password: string, otp?: string) {
  const form = { username, password, client_id: 'c', grant_type: 'password', otp };
  const body = await post('login', form);
  noteTokens(body, 'a login');
  return body;
}

const refreshOf = (refresh_token: string) => ({ refresh_token, grant_type: 'refresh_token' });

beforeAll(async () => {
  provider = lifetime.own('the provider', await startProvider('gitlab'));
  ground = lifetime.own('the ground', await openGround());
  const environment = environmentOf(provider);
  auth = lifetime.own('auth', await startAuth(ground, { environment, log }));
  // Each code of an app is good once, so the clock goes on by a step wherever another is needed.
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
  secret('the password of the first administrator', adminPassword);
  secret('the private signing key', (await readSigningKey(ground)).pem.split('\n')[3]);
  admin = (await logIn('admin', adminPassword)).access_token;
  await driveSessions();
  await drivePasswords();
  await driveSecondFactor();
  await driveApiKeys();
  await driveProviders();
  await driveFailures();
  await driveSigningKeys();
});

afterAll(async () => {
  vi.useRealTimers();
  await lifetime[Symbol.asyncDispose]();
});

/** Logins, refreshes, replays and revocations. */
async function driveSessions(): Promise<void> {
  const first = await logIn('admin', adminPassword);
  await logIn('admin', secret('a wrong password', 'wrong-password-of-admin'));
  await logIn('nobody', secret("a stranger's password", 'password-of-nobody'));
  await logIn('admin', secret('a long password', 'long-'.repeat(300)));
  const next = await post('refresh', refreshOf(first.refresh_token));
  noteTokens(next, 'a refresh');
  noteTokens(await post('oauth/token', refreshOf(next.refresh_token)), 'a plain refresh');
  await post('refresh', { ...refreshOf(next.refresh_token), grant_type: 'password' });
  await post('refresh', refreshOf(`${next.refresh_token.slice(0, -6)}AAAAAA`));
  await post('validate', { token: `${first.access_token.slice(0, -8)}AAAAAAAA` });
  await post('refresh', refreshOf(first.refresh_token));
  const second = await logIn('admin', adminPassword);
  const stranger = await createUser('stranger');
  const { access_token } = await logIn('stranger', stranger.password);
  await post('revoke', { token: second.access_token }, access_token);
  for (const path of ['validate', 'introspect', 'revoke', 'validate']) {
    await post(path, { token: second.access_token }, path === 'validate' ? undefined : admin);
  }
  await call('GET', `${base}/users`, { token: second.access_token });
  await post('revoke', { token: second.refresh_token }, admin);
  await post('refresh', refreshOf(second.refresh_token));
  await call('DELETE', `${base}/sessions/unknown`, { token: admin });
  await call('DELETE', `${base}/sessions?userId=${stranger.id}`, { token: admin });
}

async function createUser(username: string, roles = ['user']) {
  const password = secret(`the first password of ${username}`, `first-password-of-${username}`);
  const form = { username, password, email: 'u@example.com', name: 'U', roles };
  const { id } = await post('users', form, admin);
  return { id: String(id), password };
}

/** New passwords, by administrators and by users themselves, good ones and others. */
async function drivePasswords(): Promise<void> {
  const { id } = await createUser('una');
  await createUser('una');
  const url = `${base}/users/${id}`;
  const give = (password: string) => call('PATCH', url, { token: admin, body: { password } });
  await give(secret('a short password', 'shor7'.padEnd(7, '!')));
  await give(secret('a password that is too long', 'much-too-long-'.repeat(80)));
  await give(secret('a given password', 'a-given-password'));
  const { access_token: token } = await logIn('una', 'a-given-password');
  const change = (currentPassword: string, newPassword: string) =>
    post('password', { currentPassword, newPassword }, token);
  const wanted = secret('an own new password', 'an-own-new-password');
  await change(secret('a wrong current password', 'a-wrong-current-one'), wanted);
  await change('a-given-password', wanted);
  await logIn('una', wanted);
  await call('DELETE', url, { token: admin });
}

/** A second factor from its secret to its end. */
async function driveSecondFactor(): Promise<void> {
  const { id, password } = await createUser('otto');
  const { access_token: token } = await logIn('otto', password);
  await post('mfa/totp', { password: secret('a wrong password for a factor', 'not-ottos') }, token);
  const { secret: seed } = await post('mfa/totp', { password }, token);
  secret('the secret of an app', seed);
  const code = async (steps = 1) => {
    vi.setSystemTime(Date.now() + steps * stepMs);
    const epoch = Math.floor(Date.now() / 1000);
    return secret('a code of an app', await generate({ secret: seed, epoch }));
  };
  await post('mfa/totp/verify', { code: secret('a code that is none', '000000x') }, token);
  const made = await post('mfa/totp/verify', { code: await code() }, token);
  const codes: string[] = made.recoveryCodes.map((one: string) => secret('a recovery code', one));
  const used = await code();
  for (const otp of [undefined, used, used, 'wrong-code', codes[0], codes[0]]) {
    await logIn('otto', password, otp);
  }
  secret('a wrong code', 'wrong-code');
  const renewed = await post('mfa/recovery-codes', { code: await code() }, token);
  renewed.recoveryCodes.forEach((one: string) => secret('a renewed recovery code', one));
  const end = (body: object) => call('DELETE', `${base}/mfa/totp`, { token, body });
  await end({ password: 'not-ottos', code: renewed.recoveryCodes[0] });
  await end({ password, code: renewed.recoveryCodes[1] });
  const again = await post('mfa/totp', { password }, token);
  secret('the secret of another app', again.secret);
  const epoch = Math.floor(Date.now() / 1000);
  const last = await generate({ secret: again.secret, epoch });
  await post('mfa/totp/verify', { code: secret('a code of another app', last) }, token);
  await call('DELETE', `${base}/users/${id}/mfa`, { token: admin });
}

/** API keys, traded, brought in both headers, renewed and revoked. */
async function driveApiKeys(): Promise<void> {
  const form = { name: 'k', service: 'robot', permissions: ['agent:read'] };
  const key = await post('api-keys', form, admin);
  secret('an API key', key.api_key.split('_')[2]);
  const trade = (api_key: string) => post('api-key', { api_key, client_id: 'c' });
  noteTokens(await trade(key.api_key), 'an API key');
  await trade(`${key.api_key.slice(0, -4)}0000`);
  await call('GET', `${base}/users`, { token: key.api_key });
  await call('GET', `${base}/users`, { headers: { 'x-api-key': key.api_key } });
  const renewed = await post(`api-keys/${key.id}/rotate`, { overlapSeconds: 0 }, admin);
  secret('a renewed API key', renewed.api_key.split('_')[2]);
  await trade(key.api_key);
  await call('DELETE', `${base}/api-keys/${key.id}`, { token: admin });
  await trade(renewed.api_key);
}

/** Logins through a provider: its secret, its tokens, codes, verifiers, states and cookies. */
async function driveProviders(): Promise<void> {
  secret('the client secret of the environment', provider.clientSecret);
  for (const scheme of ['http', 'file']) {
    const at = (path: string) => `${provider.url.replace('http', scheme)}/oauth/${path}`;
    const config = {
      authorizationURL: at('authorize'),
      tokenURL: at('token'),
      userInfoURL: at('userinfo'),
      clientID: provider.clientId,
      clientSecret: secret('a configured client secret', `client-secret-for-${scheme}`),
      callbackURL: provider.callback,
    };
    await post('oauth/configure', { provider: 'other', config }, admin);
  }
  await logInThrough('other');
  await call('DELETE', `${base}/oauth/providers/other`, { token: admin });
  const tokens = await logInThrough('idp');
  const idp = await call('GET', `${base}/oauth/idp-token`, { token: tokens.access_token });
  noteTokens(idp.body, 'the provider');
  const form = { ...refreshOf(tokens.refresh_token), provider: 'idp' };
  const refreshed = await post('oauth/refresh', form);
  noteTokens(refreshed, 'a refresh with the provider');
  noteTokens(refreshed.idp_token, 'the provider, refreshed');
  await provider.control({ login: 'dora', groups: ['users'] });
  await post('oauth/refresh', { ...form, refresh_token: refreshed.refresh_token });
}

/** Tries a code with a wrong verifier, with the right one, and once more; answers the tokens. */
async function logInThrough(name: string): Promise<Reply['body']> {
  const { verifier, challenge } = newVerifier();
  secret('a verifier', verifier);
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const begin = async (query: Record<string, string>) => {
    const search = new URLSearchParams({ provider: name, ...query }).toString();
    return (await call('GET', `${base}/oauth/authorize?${search}`)).headers;
  };
  const exchange = (body: object, cookie = '') =>
    call('POST', `${base}/oauth/token`, {
      body: { grant_type: 'authorization_code', client_id: 'c', ...body },
      headers: { cookie },
    });
  const codeOf = async (location: unknown) => {
    const back = await visit(String(location), 'dora');
    return { code: secret('a code', back['code']), state: secret('a state', back['state']) };
  };
  const { code } = await codeOf((await begin(pkce))['location']);
  await exchange({ code, code_verifier: secret('a wrong verifier', newVerifier().verifier) });
  const { body } = await exchange({ code, code_verifier: verifier });
  noteTokens(body, `a login through ${name}`);
  await exchange({ code, code_verifier: verifier });
  const browser = await begin({ return_to: '/' });
  const [cookie = ''] = String(browser['set-cookie']).split(';');
  secret('a cookie', cookie.split('=')[1]);
  const own = await codeOf(browser['location']);
  await exchange(own, 'a=b');
  const { body: tokens } = await exchange(own, cookie);
  noteTokens(tokens, `a browser through ${name}`);
  return tokens;
}

/** Requests that break before or within the service, with secrets in them. */
async function driveFailures(): Promise<void> {
  const password = secret('the password of a broken request', 'password-of-a-broken-one');
  const url = `${base}/login`;
  const headers = { 'content-type': 'application/json' };
  const elsewhere = encodeURIComponent(`https://elsewhere.example/?password=${password}`);
  await call('GET', `${base}/oauth/authorize?provider=idp&redirect_uri=${elsewhere}`);
  await call('POST', url, { body: `{"username":"admin","password":"${password}",}`, headers });
  await call('POST', url, { body: { username: 'admin', password: [password] } });
  await call('POST', url, { body: password, headers: { 'content-type': 'text/plain' } });
  await call('GET', `${base}/users?access_token=${password}&limit=${password}`);
  await call('GET', `${base}/users`, { headers: { authorization: `Basic ${password}` } });
  await call('GET', `${base}/users`, { token: `${password}.${password}.${password}` });
  // What is tallied is recorded a moment later.
  const refused = "select from auth.audit where event_type = 'authorization_refused'";
  await vi.waitFor(async () => expect(await ground.database.query(refused)).not.toEqual([]), {
    timeout: 10_000,
  });
  await ground.database.query('alter table auth.audit_head rename to audit_head_away');
  try {
    await createUser('unheard');
    await logIn('admin', adminPassword);
    const form = { name: 'unheard', service: 'robot', permissions: [] };
    await post('api-keys', form, admin);
  } finally {
    await ground.database.query('alter table auth.audit_head_away rename to audit_head');
  }
}

async function driveSigningKeys(): Promise<void> {
  const { body } = await call('GET', `${base}/group-mappings`, { token: admin });
  const mapping = { idpGroup: 'night', platformRole: 'night', permissions: ['agent:read'] };
  const mappings = [...body.mappings, mapping];
  await call('PUT', `${base}/group-mappings`, { token: admin, body: { mappings } });
  const { kid, previousKid } = await post('keys/rotate', {}, admin);
  await post(`keys/${String(previousKid ?? kid)}/revoke`, { reason: 'test' }, admin);
}

/** Whether a text holds a secret, as it is or as it would stand in an address or a header. */
function holds(text: string, wanted: string): boolean {
  // Six digits alone are a code; within a longer word or a fraction they are chance.
  if (/^\d{6}$/.test(wanted)) {
    return new RegExp(`(?<![\\w.:+/-])${wanted}(?![\\w+/-])`).test(text);
  }
  const forms = [wanted, encodeURIComponent(wanted), Buffer.from(wanted).toString('base64')];
  return forms.some((form) => text.includes(form));
}

function leaksIn(text: string): string[] {
  return [...secrets].filter(([, wanted]) => holds(text, wanted)).map(([what]) => what);
}

describe('every operation that handles a secret', () => {
  test('was driven: all that change anything, and the two that read secrets', () => {
    const wanted = Object.entries(authContract.routes)
      .filter(([, { method }]) => method !== 'GET')
      .map(([name]) => name);
    const missing = [...wanted, 'oauthAuthorize', 'oauthIdpToken'].filter((at) => !called.has(at));
    expect(missing).toEqual([]);
    // Each would be found if it stood somewhere.
    expect(leaksIn([...secrets.values()].join('\n'))).toEqual([...secrets.keys()]);
    expect(secrets.size).toBeGreaterThan(60);
  });

  test('leaves none in the audit log', async () => {
    const rows = await ground.database.query<{ kind: string; text: string }>(
      'select event_type as kind, a::text as text from auth.audit a',
    );
    const kinds = new Set(rows.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(Object.keys(driven).toSorted());
    expect(leaksIn(rows.map(({ text }) => text).join('\n'))).toEqual([]);
  });

  test('leaves none in the log', () => {
    expect(lines.length).toBeGreaterThan(0);
    expect(leaksIn(lines.join('\n'))).toEqual([]);
  });

  test('shows none in a refusal', () => {
    const texts = refusals.map(({ headers, body }) => JSON.stringify({ headers, body }));
    expect(new Set(refusals.map(({ status }) => status)).size).toBeGreaterThan(4);
    expect(leaksIn(texts.join('\n'))).toEqual([]);
  });
});

/** Every kind of event there is; the compiler asks for one that is added. */
const driven: Readonly<Record<AuditEventType, true>> = {
  login_success: true,
  login_failure: true,
  api_key_login_success: true,
  api_key_login_failure: true,
  token_refused: true,
  access_refused: true,
  authorization_refused: true,
  token_refreshed: true,
  refresh_refused: true,
  refresh_token_reused: true,
  token_revoked: true,
  token_revocation_refused: true,
  code_replayed: true,
  roles_narrowed: true,
  idp_token_issued: true,
  provider_configured: true,
  provider_deleted: true,
  group_mappings_changed: true,
  session_ended: true,
  password_changed: true,
  password_check_failure: true,
  mfa_enabled: true,
  mfa_disabled: true,
  mfa_reset: true,
  mfa_check_failure: true,
  recovery_code_used: true,
  recovery_codes_renewed: true,
  user_created: true,
  user_updated: true,
  user_deleted: true,
  api_key_created: true,
  api_key_rotated: true,
  api_key_revoked: true,
  signing_key_rotated: true,
  signing_key_revoked: true,
};
