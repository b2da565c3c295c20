import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listenAnywhere } from '../../kit/testing.ts';
import { adminPassword } from '../testing.ts';
import {
  expectHarmless,
  expectHealthy,
  openTarget,
  refusalOf,
  type AttackCase,
  type Target,
} from './testing.ts';

let target: Target;
let port: number;
let relyingPort: number;

beforeAll(async () => {
  target = await openTarget();
  port = Number(new URL(await listenAnywhere(target.auth.host.http)).port);
  relyingPort = Number(new URL(await listenAnywhere(target.relying)).port);
});
afterEach(() => expectHealthy(target));
afterAll(() => target[Symbol.asyncDispose]());

const login = '/api/v1/auth/login';
const users = '/api/v1/auth/users';
const form = JSON.stringify({
  username: 'admin',
  password: adminPassword,
  client_id: 'c',
  grant_type: 'password',
});

/** Sends a body as it is. */
async function post(url: string, payload: string | Buffer, headers: Record<string, string> = {}) {
  const answer = await target.auth.app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const { statusCode: status, headers: sent } = answer;
  return { status, headers: sent, body: answer.json() };
}

/** Sends bytes over a socket of its own, and answers all that comes back. */
function raw(text: string, to = port): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, '127.0.0.1');
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString()));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(answer));
    socket.write(text, 'latin1');
  });
}

/** The status that both services answer to the same header lines. */
async function statusesOf(lines: readonly string[]): Promise<number[]> {
  const head = ['host: x', 'connection: close', ...lines].join('\r\n');
  const answers = await Promise.all([
    raw(`GET ${users} HTTP/1.1\r\n${head}\r\n\r\n`),
    raw(`GET /things HTTP/1.1\r\n${head}\r\n\r\n`, relyingPort),
  ]);
  return answers.map((answer) => Number(answer.slice(9, 12)));
}

const badJson = { status: 400, code: 'invalid_json' };
const invalid = { status: 400, code: 'validation_error' };
const badType = { status: 415, code: 'unsupported_media_type' };

const bodies: readonly AttackCase[] = [
  ...[
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'application/json; charset=utf-7',
    'application/json+x',
    'text/json',
  ].map((type) => ({
    name: `G48: a login as ${type} is refused`,
    run: async () => refusalOf(await post(login, form, { 'content-type': type })),
    expected: badType,
  })),
  {
    name: 'G48: a login without a content type is refused',
    run: async () => {
      const head = `POST ${login} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`;
      return (await raw(`${head}content-length: ${form.length}\r\n\r\n${form}`)).slice(9, 12);
    },
    expected: '415',
  },
  ...['gzip', 'deflate', 'br', 'identity, gzip'].map((encoding) => ({
    name: `own 45: a body under content-encoding ${encoding} is not inflated`,
    run: async () => refusalOf(await post(login, form, { 'content-encoding': encoding })),
    expected: badType,
  })),
  ...[
    ['rubbish behind it', `${form}x`],
    ['a second value behind it', `${form}{}`],
    ['a comment', form.replace('{', '{/* */')],
    ['NaN', form.replace('"c"', 'NaN')],
    ['Infinity', form.replace('"c"', 'Infinity')],
    ['a trailing comma', form.replace('}', ',}')],
    ['single quotes', form.replaceAll('"', "'")],
    ['a missing end', form.slice(0, -1)],
    ['10,000 levels', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['65 levels', form.replace('"c"', '['.repeat(65) + ']'.repeat(65))],
    ['a key that stands twice', form.replace('{', '{"username":"somebody",')],
    ['a key that stands twice, once escaped', form.replace('{', String.raw`{"\u0075sername":"x",`)],
    ['a key that stands twice, deep inside', form.replace('"c"', '[{"a":[{"b":1,"b":1}]}]')],
    ['an empty key that stands twice', form.replace('{', '{"":1,"":2,')],
    ['__proto__', form.replace('{', '{"__proto__":{"roles":["admin"]},')],
    ['an escaped __proto__', form.replace('{', String.raw`{"\u005f\u005fproto__":{},`)],
    ['constructor.prototype', form.replace('{', '{"constructor":{"prototype":{}},')],
    ['U+0000', form.replace('"c"', String.raw`"\u0000"`)],
    ['a bare control character', form.replace('"c"', '"\u0001"')],
    ['nothing', ' '],
  ].map(([what, body]) => ({
    name: `G49: a JSON body with ${String(what)} is refused`,
    run: async () => refusalOf(await post(login, String(body))),
    expected: badJson,
  })),
  {
    name: 'G49: names that look alike in texts and lists are not taken for one that stands twice',
    run: async () => {
      const more = String.raw`{"x":"\":{\"username\":1,\"username\":2","y":["a:","a:"],"z":{"username":1},`;
      return (await post(login, form.replace('{', more))).status;
    },
    expected: 200,
  },
  ...['null', '7', 'true', '[]', '"text"', '{}'].map((body) => ({
    name: `own 46: the JSON value ${body} is no login`,
    run: async () => refusalOf(await post(login, body)),
    expected: invalid,
  })),
  {
    name: 'own 47: bytes that are no UTF-8 are no password',
    run: async () => {
      const bytes = Buffer.from(form.replace(adminPassword, `${adminPassword}\u00ff`), 'latin1');
      return refusalOf(await post(login, bytes)).status;
    },
    expected: 401,
  },
  {
    name: 'own 48: a body of two megabytes is refused unread',
    run: async () => refusalOf(await post(login, `{"x":"${'x'.repeat(2 * 1024 * 1024)}"}`)),
    expected: { status: 413, code: 'too_large' },
  },
];

const good = (): string => target.forge.good;
type Lines = () => readonly string[];

const headers: readonly [name: string, lines: Lines, statuses: readonly number[]][] = [
  ['G50: one well-formed header', () => [`authorization: Bearer ${good()}`], [200, 200]],
  ['G50: the scheme in small letters', () => [`authorization: bearer ${good()}`], [200, 200]],
  ['G50: no header', () => [], [401, 401]],
  [
    'G50: two headers',
    () => [`authorization: Bearer ${good()}`, `authorization: Bearer ${good()}`],
    [401, 401],
  ],
  [
    'G50: two headers of which the first is rubbish',
    () => ['authorization: Bearer x', `Authorization: Bearer ${good()}`],
    [401, 401],
  ],
  ['G50: two blanks', () => [`authorization: Bearer  ${good()}`], [401, 401]],
  ['G50: a tab', () => [`authorization: Bearer\t${good()}`], [401, 401]],
  ['G50: a blank inside', () => [`authorization: Bearer ${good()} x`], [401, 401]],
  ['G50: two tokens', () => [`authorization: Bearer ${good()},${good()}`], [401, 401]],
  ['G50: quotes', () => [`authorization: Bearer "${good()}"`], [401, 401]],
  ['G50: no scheme', () => [`authorization: ${good()}`], [401, 401]],
  ['G50: Basic', () => ['authorization: Basic YWRtaW46YWRtaW4='], [401, 401]],
  ['G50: Token', () => [`authorization: Token ${good()}`], [401, 401]],
  ['H60: DPoP, which is not taken', () => [`authorization: DPoP ${good()}`], [401, 401]],
  ['G50: an empty Bearer', () => ['authorization: Bearer '], [401, 401]],
  ['G50: NUL', () => [`authorization: Bearer ${good()}\0`], [400, 400]],
  ['G50: a bare CR', () => [`authorization: Bearer ${good()}\rx: y`], [400, 400]],
  ['G50: a folded line', () => [`authorization: Bearer`, ` ${good()}`], [400, 400]],
  ['G50: a blank before the colon', () => [`authorization : Bearer ${good()}`], [400, 400]],
  ['G50: 64 kB', () => [`authorization: Bearer ${'x'.repeat(65_536)}`], [431, 431]],
  [
    'own 49: a proxy header in place of a token',
    () => [
      `x-forwarded-user: admin`,
      `x-remote-user: admin`,
      `proxy-authorization: Bearer ${good()}`,
    ],
    [401, 401],
  ],
  [
    'own 50: a good token behind one that is no good',
    () => ['authorization: Bearer a.b.c', `x-api-key: ${good()}`],
    [401, 401],
  ],
  [
    'own 51: both Content-Length and Transfer-Encoding',
    () => [`authorization: Bearer ${good()}`, 'content-length: 3', 'transfer-encoding: chunked'],
    [400, 400],
  ],
  [
    'own 51: two lengths',
    () => [`authorization: Bearer ${good()}`, 'content-length: 0', 'content-length: 3'],
    [400, 400],
  ],
];

const requests: readonly AttackCase[] = [
  ...(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'HEAD'] as const).map((method) => ({
    name: `G51: ${method} is no way to log in`,
    run: async () => {
      const answer = await target.auth.app.inject({ method, url: login });
      return [answer.statusCode, answer.headers['access-control-allow-origin']];
    },
    expected: [405, undefined],
  })),
  ...['x-http-method-override', 'x-http-method', 'x-method-override'].map((name) => ({
    name: `G51: ${name} changes no method`,
    run: async () => {
      const id = 'usr_x';
      const answer = await post(`${users}/${id}`, '{}', {
        [name]: 'DELETE',
        authorization: `Bearer ${good()}`,
      });
      return answer.status;
    },
    expected: 405,
  })),
  {
    name: 'G51: _method in the query changes no method',
    run: async () => (await post(`${users}/usr_x?_method=DELETE`, '{}')).status,
    expected: 405,
  },
  {
    name: 'G51: a preflight from a foreign origin is granted nothing',
    run: async () => {
      const answer = await target.auth.app.inject({
        method: 'OPTIONS',
        url: login,
        headers: { origin: 'http://evil.test', 'access-control-request-method': 'POST' },
      });
      return Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
    },
    expected: [],
  },
  {
    name: 'G51: a login from a foreign origin is not readable there',
    run: async () => {
      const { headers: sent } = await post(login, form, { origin: 'http://evil.test' });
      return sent['access-control-allow-origin'];
    },
    expected: undefined,
  },
  ...[
    ['a token in the query', `${users}?access_token=`],
    ['a token in the query under another name', `${users}?token=`],
  ].map(([what, url]) => ({
    name: `own 52: ${String(what)} is not read`,
    run: async () => refusalOf(await target.auth.call('GET', String(url) + good())),
    expected: { status: 401, code: 'invalid_token' },
  })),
  ...[
    '//api/v1/auth/users',
    '/api/v1/auth/users/',
    '/API/v1/auth/users',
    '/api/v1/auth/./users',
    '/api/v1/auth/health/../users',
    '/api/v1/auth/%75sers',
    '/api/v1/auth/users;x=1',
    '/api/v1/auth/users%2f',
    '/api/v1/auth/users%00',
    '/api/v1/auth\\users',
    '/.well-known/jwks.json/../../api/v1/auth/users',
  ].map((url) => ({
    name: `own 53: the path ${url} shows no users without a token`,
    run: async () => {
      const reply = await target.auth.call('GET', url);
      expectHarmless(reply);
      return [400, 401, 404].includes(reply.status);
    },
    expected: true,
  })),
  ...['%ff', '%c0%ae', '%', '%zz'].map((part) => ({
    name: `own 54: the path part ${part} is a bad request`,
    run: async () => {
      const url = `${users}/${part}`;
      return refusalOf(await target.auth.call('GET', url, { token: good() })).status;
    },
    expected: 400,
  })),
  {
    name: 'own 55: a limit given twice is a bad request',
    run: async () =>
      refusalOf(await target.auth.call('GET', `${users}?limit=1&limit=100`, { token: good() })),
    expected: invalid,
  },
  ...['limit[]=1', 'limit[$gt]=1', 'limit=1e9', 'limit=-1', 'limit=0x10', 'offset=1;drop'].map(
    (query) => ({
      name: `own 55: the query ${query} widens no listing`,
      run: async () => {
        const reply = await target.auth.call('GET', `${users}?${query}`, { token: good() });
        return reply.status === 200 ? reply.body.limit : refusalOf(reply);
      },
      expected: query.includes('[') ? 20 : invalid,
    }),
  ),
  {
    name: 'G52: a foreign Host changes neither the issuer nor any address in a token',
    run: async () => {
      const hostile = { host: 'evil.test', 'x-forwarded-host': 'evil.test' };
      const { body } = await post(login, form, hostile);
      return Buffer.from(body.access_token.split('.')[1], 'base64url').includes('evil');
    },
    expected: false,
  },
  {
    name: 'G53: tokens are stored by no cache, and the key set by every one',
    run: async () => {
      const jwks = await target.auth.call('GET', '/.well-known/jwks.json');
      const seconds = Number(/max-age=(\d+)/.exec(String(jwks.headers['cache-control']))?.[1]);
      const tokens = await post(login, form);
      return [tokens.headers['cache-control'], seconds >= 300, Boolean(jwks.headers['etag'])];
    },
    expected: ['no-store', true, true],
  },
  {
    name: 'own 56: a request id of the caller cannot break out of its header',
    run: async () => {
      const answer = await post(login, form, { 'x-request-id': 'a<script>' });
      return /^[\w-]+$/.test(String(answer.headers['x-request-id']));
    },
    expected: true,
  },
];

const cookies: readonly [name: string, method: 'GET' | 'POST', headers: object, status: number][] =
  [
    ['a read with the cookie is let in', 'GET', {}, 200],
    ['a write without an origin is refused', 'POST', {}, 403],
    ['a write from a foreign origin is refused', 'POST', { origin: 'http://evil.test' }, 403],
    ['a write from the origin null is refused', 'POST', { origin: 'null' }, 403],
    [
      'a write from an origin that begins alike is refused',
      'POST',
      { origin: 'http://things.test.evil.test' },
      403,
    ],
    ['a write from a subdomain is refused', 'POST', { origin: 'http://a.things.test' }, 403],
    ['a write from another port is refused', 'POST', { origin: 'http://things.test:81' }, 403],
    ['a write from its own origin is let in', 'POST', { origin: 'http://things.test' }, 200],
  ];

describe('a body', () => {
  test.each(bodies)('$name', async ({ run, expected }) => {
    expect(await run()).toEqual(expected);
  });
});

describe('a request with', () => {
  test.each(headers)('%s gets one status from all services', async (_, lines, statuses) => {
    expect(await statusesOf(lines())).toEqual(statuses);
  });
});

describe('a request', () => {
  test.each(requests)('$name', async ({ run, expected }) => {
    expect(await run()).toEqual(expected);
  });
});

describe('of a session cookie', () => {
  test.each(cookies)('C27: %s', async (_, method, more, status) => {
    const answer = await target.relying.app.inject({
      method,
      url: '/things',
      headers: { host: 'things.test', cookie: `session=${good()}`, ...more },
    });
    expect(answer.statusCode).toBe(status);
  });

  test('C27: the authentication service takes none', async () => {
    const reply = await target.auth.call('GET', users, {
      headers: { cookie: `session=${good()}` },
    });
    expect(refusalOf(reply)).toEqual({ status: 401, code: 'invalid_token' });
  });
});
