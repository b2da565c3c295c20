import { createHmac, createPublicKey } from 'node:crypto';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  importPKCS8,
  SignJWT,
  type CryptoKey,
  type JWTHeaderParameters,
  type JWTPayload,
} from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encode } from '../attacks/forge.ts';
import {
  adminPassword,
  openGround,
  readSigningKey,
  startAuth,
  type Ground,
  type RunningAuth,
} from '../testing.ts';

let ground: Ground;
let auth: RunningAuth;
let good: string;
let refreshToken: string;
let kid: string;
let suiteKey: CryptoKey;
let publicPem: string;
let foreign: { privateKey: CryptoKey; publicKey: CryptoKey };

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  const { body } = await auth.login('admin', adminPassword);
  good = body.access_token;
  refreshToken = body.refresh_token;
  const signingKey = await readSigningKey(ground);
  kid = signingKey.kid;
  suiteKey = await importPKCS8(signingKey.pem, 'RS256');
  const jwks = await auth.call('GET', '/.well-known/jwks.json');
  // The key set holds RSA keys, which import as asymmetric keys.
  publicPem = await exportSPKI((await importJWK(jwks.body.keys[0], 'RS256')) as CryptoKey);
  foreign = await generateKeyPair('RS256', { extractable: true });
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function parts(): [string, string, string] {
  return good.split('.') as [string, string, string];
}

function claims(changes: Record<string, unknown> = {}): JWTPayload {
  const payload = JSON.parse(Buffer.from(parts()[1], 'base64url').toString());
  return JSON.parse(JSON.stringify({ ...payload, jti: `tok_${Math.random()}`, ...changes }));
}

function sign(
  changes: Record<string, unknown>,
  header: Record<string, unknown> = {},
  key: CryptoKey = suiteKey,
): Promise<string> {
  const protectedHeader = { alg: 'RS256', typ: 'JWT', kid, ...header } as JWTHeaderParameters;
  return new SignJWT(claims(changes)).setProtectedHeader(protectedHeader).sign(key);
}

async function signAs(alg: string): Promise<string> {
  const { privateKey } = await generateKeyPair(alg);
  return sign({}, { alg }, privateKey);
}

/** The suite's own RSA key under another RSA algorithm. */
async function signSuiteKeyAs(alg: string): Promise<string> {
  const { pem } = await readSigningKey(ground);
  return sign({}, { alg }, await importPKCS8(pem, alg));
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}

type Forge = () => string | Promise<string>;

const forgeries: [title: string, forge: Forge, error?: string][] = [
  ['no token at all', () => ''],
  ['text that is no token', () => 'a.b.c'],
  ['an API key', () => 'enn_0_1_2'],
  ['alg none', () => `${encode({ alg: 'none', typ: 'JWT', kid })}.${parts()[1]}.`],
  [
    'HS256 with the public key as the secret',
    () => {
      const text = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${parts()[1]}`;
      return `${text}.${createHmac('sha256', publicPem).update(text).digest('base64url')}`;
    },
  ],
  ['a stripped signature', () => `${parts()[0]}.${parts()[1]}.`],
  ['two parts', () => `${parts()[0]}.${parts()[1]}`],
  ['four parts', () => `${good}.x`],
  ['five parts', () => `${good}.x.y`],
  [
    'a changed payload',
    () => `${parts()[0]}.${encode(claims({ permissions: ['*', 'more'] }))}.${parts()[2]}`,
  ],
  ...[
    '../../../../dev/null',
    '/proc/self/environ',
    'file:///etc/passwd',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ].map((name): [string, Forge] => [
    `the key id ${name}`,
    () => sign({}, { kid: name }, foreign.privateKey),
  ]),
  ['no key id', () => sign({}, { kid: undefined })],
  ['a foreign key under the right id', () => sign({}, {}, foreign.privateKey)],
  [
    'a key that it brings along',
    async () => sign({}, { jwk: await exportJWK(foreign.publicKey) }, foreign.privateKey),
  ],
  ['a key address', () => sign({}, { jku: 'http://127.0.0.1:1/keys' }, foreign.privateKey)],
  [
    'a certificate chain that it brings along',
    () => sign({}, { x5c: [encode('x')] }, foreign.privateKey),
  ],
  [
    'compression',
    () => `${encode({ alg: 'RS256', typ: 'JWT', kid, zip: 'DEF' })}.${parts()[1]}.${parts()[2]}`,
  ],
  [
    'an encrypted token with a costly key derivation',
    () =>
      `${encode({ alg: 'PBES2-HS256+A128KW', enc: 'A128CBC-HS256', p2c: 1e9, p2s: 'x' })}.a.b.c.d`,
  ],
  ...['PS256', 'RS384', 'RS512'].map((alg): [string, Forge] => [
    `the suite's key with ${alg}`,
    () => signSuiteKeyAs(alg),
  ]),
  ...['ES256', 'EdDSA'].map((alg): [string, Forge] => [
    `another key with ${alg}`,
    () => signAs(alg),
  ]),
  ['another type', () => sign({}, { typ: 'at+jwt' })],
  [
    'a doubled alg',
    () => `${encode(`{"alg":"RS256","alg":"none","typ":"JWT","kid":"${kid}"}`)}.${parts()[1]}.`,
  ],
  ['a megabyte of nesting', () => sign({ deep: '['.repeat(20_000) })],
  ['an expiry long past', () => sign({ exp: now() - 60 }), 'token_expired'],
  ['an expiry just beyond the leeway', () => sign({ exp: now() - 6 }), 'token_expired'],
  ['a start in the future', () => sign({ nbf: now() + 60 })],
  ['no expiry', () => sign({ exp: undefined })],
  ['an expiry that is text', () => sign({ exp: '9999999999' })],
  ['a negative expiry', () => sign({ exp: -1 }), 'token_expired'],
  ['an audience without the suite', () => sign({ aud: ['other'] })],
  ['an empty audience', () => sign({ aud: [] })],
  ['an audience with a blank', () => sign({ aud: ['ennead '] })],
  ['another issuer', () => sign({ iss: 'http://auth.test/' })],
  ['no id', () => sign({ jti: undefined })],
  ['no subject', () => sign({ sub: undefined })],
  ['no session', () => sign({ sid: undefined })],
  ['no use', () => sign({ token_use: undefined })],
  ['the use of a refresh token', () => sign({ token_use: 'refresh' })],
  ['a refresh token', () => refreshToken],
];

describe('a forged or foreign token', () => {
  test.each(forgeries)('with %s is not valid', async (_, forge, error = 'token_invalid') => {
    const token = await forge();
    const { status, body, headers } = await auth.call('POST', '/api/v1/auth/validate', {
      body: { token },
    });
    expect(status).toBe(200);
    expect(body).toEqual({ valid: false, error, message: expect.any(String) });
    expect(headers['cache-control']).toBe('no-store');
  });

  test.each(forgeries)('with %s opens no route', async (_, forge, reason) => {
    const token = await forge();
    const { status, body, headers } = await auth.call('GET', '/api/v1/auth/users', {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(401);
    expect(body.error).toMatchObject({ type: 'authentication_error', code: 'invalid_token' });
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    if (reason) expect(body.error.details).toMatchObject({ reason, expiredAt: expect.any(String) });
  });

  test('leaves the service healthy', async () => {
    expect((await auth.call('GET', '/health')).body.status).toBe('healthy');
  });
});

describe('a good token', () => {
  test('made with the same key and claims is valid, so the refusals above are for their flaw', async () => {
    const { body } = await auth.call('POST', '/api/v1/auth/validate', {
      body: { token: await sign({}) },
    });
    expect(body.valid).toBe(true);
  });

  test('is valid again from the cache, with the same claims', async () => {
    const body = { token: good };
    const first = await auth.call('POST', '/api/v1/auth/validate', { body });
    const second = await auth.call('POST', '/api/v1/auth/validate', { body });
    expect(first.body.valid).toBe(true);
    expect(second.body).toEqual(first.body);
  });

  test('within the leeway after its expiry is valid here and at a route', async () => {
    const token = await sign({ exp: now() - 2 });
    const { body } = await auth.call('POST', '/api/v1/auth/validate', { body: { token } });
    expect(body.valid).toBe(true);
    expect((await auth.call('GET', '/api/v1/auth/users', { token })).status).toBe(200);
  });
});

test('more validations than an address has in a minute are refused', async () => {
  await using limited = await startAuth(ground, {
    environment: { AUTH_VALIDATIONS_PER_MINUTE: '2' },
  });
  const call = (ip: string) =>
    limited.call('POST', '/api/v1/auth/validate', { body: { token: good }, ip });
  expect((await call('10.0.0.1')).headers['x-ratelimit-remaining']).toBe('1');
  expect((await call('10.0.0.1')).status).toBe(200);
  const { status, headers } = await call('10.0.0.1');
  expect(status).toBe(429);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect((await call('10.0.0.2')).status).toBe(200);
});

test('the published key is the public half of a 2048-bit RSA key', async () => {
  const { body } = await auth.call('GET', '/.well-known/jwks.json');
  const key = createPublicKey({ key: body.keys[0], format: 'jwk' });
  expect(key.asymmetricKeyDetails?.modulusLength).toBe(2048);
});
