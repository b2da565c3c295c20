import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  authorize,
  environmentOf,
  exchange,
  logIn,
  newVerifier,
  startProvider,
  visit,
  type TestProvider,
} from '../oauth/testing.ts';
import {
  accepted,
  createVictim,
  expectHealthy,
  openTarget,
  refusalOf,
  verdictsOf,
  type AttackCase,
  type Target,
} from './testing.ts';

let target: Target;
let provider: TestProvider;

beforeAll(async () => {
  provider = await startProvider('gitlab');
  target = await openTarget(environmentOf(provider));
});
afterEach(() => expectHealthy(target));
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const authorizeUrl = '/api/v1/auth/oauth/authorize';
const configureUrl = '/api/v1/auth/oauth/configure';
const refusedIssuer = { status: 400, isListed: false, code: 'invalid_provider' };
const invalidGrant = { status: 400, code: 'invalid_grant' };

function s256(challenge: string) {
  return { code_challenge: challenge, code_challenge_method: 'S256' };
}

/** A code of a user whose caller keeps the verifier. */
async function codeFor(login: string) {
  const { verifier, challenge } = newVerifier();
  const begun = await authorize(target.auth, s256(challenge));
  const { code = '' } = await visit(String(begun.headers['location']), login);
  return { code, code_verifier: verifier };
}

/** A code of a browser whose verifier the service keeps. */
async function browserFor(login: string, query: Readonly<Record<string, string>> = {}) {
  const begun = await authorize(target.auth, { return_to: '/', ...query });
  const back = await visit(String(begun.headers['location']), login);
  const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
  return { code: back['code'] ?? '', state: back['state'] ?? '', cookie };
}

async function configure(config: object, token: string = target.forge.good, name = 'custom') {
  const body = {
    provider: name,
    config: {
      authorizationURL: `${provider.url}/oauth/authorize`,
      tokenURL: `${provider.url}/oauth/token`,
      userInfoURL: `${provider.url}/oauth/userinfo`,
      clientID: provider.clientId,
      clientSecret: provider.clientSecret,
      callbackURL: provider.callback,
      ...config,
    },
  };
  return target.auth.call('POST', configureUrl, { token, body });
}

/** An OpenID provider of which there is the metadata alone, naming an issuer made of its own address. */
async function serveMetadata(
  issuerOf: (own: string) => unknown,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, answer) => {
    const metadata = {
      issuer: issuerOf(url),
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
    };
    answer.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // The server listens on TCP, so its address is not a text.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url, [Symbol.asyncDispose]: close };
}

const cases: readonly AttackCase[] = [
  {
    name: 'F38: of twenty exchanges of one code one succeeds, and the code ends it once it comes again',
    run: async () => {
      const body = await codeFor('dora');
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => exchange(target.auth, body)),
      );
      const won = replies.filter(({ status }) => status === 200);
      const lost = replies.filter(({ status }) => status !== 200).map(refusalOf);
      const codes = new Set(lost.map(({ code }) => code));
      const before = await verdictsOf(target, won[0]?.body.access_token);
      const replay = refusalOf(await exchange(target.auth, body));
      const { validate } = await verdictsOf(target, won[0]?.body.access_token);
      return [won.length, codes, before.validate, replay, validate];
    },
    expected: [1, new Set(['invalid_grant']), accepted.validate, invalidGrant, 'token_revoked'],
  },
  {
    name: 'F39: a code that was slipped into the session of a victim logs nobody in',
    run: async () => {
      const [attacker, victim] = [await browserFor('dora'), await browserFor('erin')];
      const { code } = attacker;
      const { state, cookie } = victim;
      return refusalOf(await exchange(target.auth, { code, state }, cookie));
    },
    expected: invalidGrant,
  },
  {
    name: 'F39: a state without the cookie of the browser that began logs nobody in',
    run: async () => {
      const { code, state } = await browserFor('dora');
      return refusalOf(await exchange(target.auth, { code, state }));
    },
    expected: invalidGrant,
  },
  {
    name: 'F39: a code with the verifier of another login logs nobody in',
    run: async () => {
      const [attacker, victim] = [await codeFor('dora'), await codeFor('erin')];
      const { code } = attacker;
      return refusalOf(await exchange(target.auth, { code, code_verifier: victim.code_verifier }));
    },
    expected: invalidGrant,
  },
  {
    name: 'F40: a callback that names another issuer is refused',
    run: async () => {
      const body = await codeFor('dora');
      return refusalOf(await exchange(target.auth, { ...body, iss: 'https://evil.example' }));
    },
    expected: invalidGrant,
  },
  ...[
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    'evil.example',
    '/%0d%0a\r\nset-cookie: a=b',
  ].map((returnTo) => ({
    name: `F41: the way back ${JSON.stringify(returnTo)} leads to the own front page`,
    run: async () => {
      const { code, state, cookie } = await browserFor('dora', { return_to: returnTo });
      return (await exchange(target.auth, { code, state }, cookie)).body.return_to;
    },
    expected: '/',
  })),
  ...['state', 'provider', 'redirect_uri', 'code_challenge', 'client_id'].map((name) => ({
    name: `F42: a ${name} given twice is a bad request`,
    run: async () => {
      const url = `${authorizeUrl}?${name}=a&${name}=b`;
      return refusalOf(await target.auth.call('GET', url)).status;
    },
    expected: 400,
  })),
  {
    name: 'F42: a code in a list is a bad request',
    run: async () => {
      const { code, code_verifier } = await codeFor('dora');
      const reply = await exchange(target.auth, { code: [code, code], code_verifier });
      return refusalOf(reply).status;
    },
    expected: 400,
  },
  ...['state', 'provider', 'return_to', 'scope', 'client_id'].map((name) => ({
    name: `F43: line ends in ${name} make no header`,
    run: async () => {
      const reply = await authorize(target.auth, { [name]: 'a\r\nx-injected: b' });
      const cookie = String(reply.headers['set-cookie'] ?? '');
      return [
        'x-injected' in reply.headers,
        /[\r\n]/.test(cookie + String(reply.headers['location'])),
      ];
    },
    expected: [false, false],
  })),
  ...[
    ['itself', (own: string) => own, { status: 200, isListed: true }],
    ['another issuer', () => 'https://evil.example', refusedIssuer],
    ['itself with a slash', (own: string) => `${own}/`, refusedIssuer],
    [
      'itself by another name',
      (own: string) => own.replace('127.0.0.1', 'localhost'),
      refusedIssuer,
    ],
    ['itself in a list', (own: string) => [own], refusedIssuer],
    ['nobody', () => undefined, refusedIssuer],
  ].map(([named, issuerOf, expected]) => ({
    name: `F44: metadata that names ${named as string} is ${expected === refusedIssuer ? 'refused, and nothing is configured' : 'taken'}`,
    run: async () => {
      const change = issuerOf as (own: string) => unknown;
      await using issuer = await serveMetadata(change);
      const name = `issuer-${Math.random().toString(36).slice(2)}`;
      const { status, body } = await configure({ issuer: issuer.url }, target.forge.good, name);
      const { body: listed } = await target.auth.call('GET', '/api/v1/auth/oauth/providers', {
        token: target.forge.good,
      });
      const isListed = JSON.stringify(listed).includes(name);
      return { status, isListed, ...(status === 200 ? {} : { code: body.error.code }) };
    },
    expected,
  })),
  {
    name: 'F45: a stranger with the username and e-mail address of a user is another user',
    run: async () => {
      const { reply } = await logIn(target.auth, 'admin');
      const { username, roles } = reply.body.user;
      return [reply.status, username === 'admin', roles.includes('admin')];
    },
    expected: [200, false, false],
  },
  {
    name: "F46: who came by password has no provider's token, nor anybody else's",
    run: async () => {
      const { accessToken } = await createVictim(target);
      await logIn(target.auth, 'erin');
      const url = '/api/v1/auth/oauth/idp-token';
      const reply = await target.auth.call('GET', `${url}?userId=erin`, { token: accessToken });
      return [refusalOf(reply).status >= 400, 'access_token' in reply.body];
    },
    expected: [true, false],
  },
  {
    name: "F46: neither the provider's tokens nor its secret stand in the database",
    run: async () => {
      const { reply } = await logIn(target.auth, 'erin');
      await configure({});
      const { body } = await target.auth.call('GET', '/api/v1/auth/oauth/idp-token', {
        token: reply.body.access_token,
      });
      const tables = await target.ground.database.query<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'auth'`,
      );
      let dump = '';
      for (const { name } of tables) {
        const rows = await target.ground.database.query(`select t::text from auth.${name} t`);
        dump += JSON.stringify(rows);
      }
      const secrets = [body.access_token, body.refresh_token, provider.clientSecret];
      return secrets.map((secret) => typeof secret === 'string' && !dump.includes(secret));
    },
    expected: [true, true, true],
  },
  {
    name: 'F47: who does not administer configures no provider',
    run: async () => {
      const { accessToken } = await createVictim(target, ['developer']);
      return refusalOf(await configure({}, accessToken));
    },
    expected: { status: 403, code: 'insufficient_permissions' },
  },
  ...[
    ['tokenURL', 'http://169.254.169.254/latest'],
    ['tokenURL', 'http://10.0.0.1/token'],
    ['userInfoURL', 'http://[fd00::1]/me'],
    ['userInfoURL', 'http://0x7f.1/me#x'],
    ['authorizationURL', 'javascript:alert(1)'],
    ['callbackURL', 'data:text/html,x'],
    ['tokenURL', 'file:///etc/passwd'],
    ['tokenURL', 'https://user:secret@provider.example/token'],
  ].map(([field = '', value]) => ({
    name: `F47: ${String(value)} is no ${field} of a provider`,
    run: async () => refusalOf(await configure({ [field]: value })).status,
    expected: 400,
  })),
  {
    name: 'F47: the secret of a provider comes back from nowhere, not even masked',
    run: async () => {
      const made = await configure({});
      const url = '/api/v1/auth/oauth/providers';
      const listed = await target.auth.call('GET', url, { token: target.forge.good });
      const audit = await target.auth.call('GET', '/api/v1/auth/audit', {
        token: target.forge.good,
      });
      const all = JSON.stringify([made.body, listed.body, audit.body]);
      return [made.status, all.includes(provider.clientSecret), /clientSecret"?\s*:/.test(all)];
    },
    expected: [200, false, false],
  },
  {
    name: 'G52: a foreign Host changes no address that the browser is sent to',
    run: async () => {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
      const reply = await target.auth.call('GET', `${authorizeUrl}?return_to=/`, { headers });
      const location = new URL(String(reply.headers['location']));
      return [
        location.href.includes('evil'),
        location.searchParams.get('redirect_uri') === provider.callback,
      ];
    },
    expected: [false, true],
  },
  ...['token', 'id_token', 'code token', 'none'].map((responseType) => ({
    name: `own 61: the response type ${responseType} is not offered`,
    run: async () =>
      refusalOf(await authorize(target.auth, { response_type: responseType })).status,
    expected: 400,
  })),
  ...['password', 'client_credentials', 'implicit', ''].map((grantType) => ({
    name: `own 62: the grant ${JSON.stringify(grantType)} gives no token at the exchange`,
    run: async () => refusalOf(await exchange(target.auth, { grant_type: grantType })).status,
    expected: 400,
  })),
  {
    name: 'own 63: an access token in place of a code gives no token',
    run: async () => {
      const { code_verifier } = await codeFor('dora');
      const body = { code: target.forge.good, code_verifier };
      return refusalOf(await exchange(target.auth, body)).status;
    },
    expected: 400,
  },
  {
    name: 'own 64: a session through a provider is one like any other, and is good everywhere',
    run: async () => {
      const { reply } = await logIn(target.auth, 'erin');
      return (await verdictsOf(target, reply.body.access_token)).validate;
    },
    expected: accepted.validate,
  },
];

test.each(cases)('$name', async ({ run, expected }) => {
  expect(await run()).toEqual(expected);
});
