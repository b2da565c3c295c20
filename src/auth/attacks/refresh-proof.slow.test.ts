import { createHash, createHmac, createPublicKey, createSecretKey } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openSealer } from '../../kit/secrets/sealing.ts';
import { decode, encode, nowSeconds, type Signer } from './forge.ts';
import {
  accepted,
  createVictim,
  expectHealthy,
  openTarget,
  refusalOf,
  refused,
  verdictsOf,
  type AttackCase,
  type Target,
} from './testing.ts';

type Json = Readonly<Record<string, unknown>>;

let target: Target;
/** What only who has the key file can derive. */
let secret: Buffer;

beforeAll(async () => {
  target = await openTarget();
  secret = await deriveSecret(target.forge.kid);
});
afterEach(() => expectHealthy(target));
afterAll(() => target[Symbol.asyncDispose]());

async function deriveSecret(kid: string, purpose = `refresh tokens ${kid}`): Promise<Buffer> {
  const folder = join(target.ground.dataFolder, 'secrets');
  const sealer = await openSealer({ folder, mayCreate: false });
  return sealer.deriveKeys(purpose).get('key-1') ?? Buffer.alloc(0);
}

function coder(key: string | Buffer, hash = 'sha256'): Signer {
  return (input) => createHmac(hash, key).update(input).digest();
}

const secretId = () => `${target.forge.kid}.key-1`;

/** A text of a header and the claims of a good refresh token, which a session waits for. */
function tokenOf(header: Json, signer: Signer, changes: Json = {}): string {
  const claims = { ...decode(target.forge.refreshToken, 1), jti: `tok_${Math.random()}` };
  const input = `${encode(header)}.${encode({ ...claims, ...changes })}`;
  return `${input}.${signer(input).toString('base64url')}`;
}

const header = (changes: Json = {}): Json => ({
  alg: 'HS256',
  typ: 'JWT',
  kid: secretId(),
  ...changes,
});

/** Has the token's session wait for it, so that nothing but its proof can be what is refused. */
async function expectToken(token: string): Promise<void> {
  await target.ground.database.query(
    'update auth.sessions set token_hash = $2, previous_hash = null where id = $1',
    [decode(token, 1)['sid'], createHash('sha256').update(token).digest()],
  );
}

function refresh(refresh_token: string) {
  const body = { refresh_token, grant_type: 'refresh_token' };
  return target.auth.call('POST', '/api/v1/auth/refresh', { body });
}

async function tryRefresh(token: string): Promise<unknown> {
  await expectToken(token);
  const reply = await refresh(token);
  if (reply.status === 200) return 'refreshed';
  return [refusalOf(reply), reply.body.error.details.reason];
}

const no = [{ status: 400, code: 'invalid_grant' }, 'token_invalid'];
const publicDer = () =>
  createPublicKey(target.forge.publicPem).export({ type: 'spki', format: 'der' });
const modulus = () => String(createPublicKey(target.forge.publicPem).export({ format: 'jwk' }).n);

const publicTexts: readonly (readonly [string, () => string | Buffer])[] = [
  ['the public key as PEM', () => target.forge.publicPem],
  ['the public key as PEM without its last line end', () => target.forge.publicPem.trim()],
  ['the public key as DER', () => publicDer()],
  ['the modulus of the public key', () => modulus()],
  ['the bytes of the modulus', () => Buffer.from(modulus(), 'base64url')],
  ['the key id', () => target.forge.kid],
  ['the id of the secret', () => secretId()],
  ['nothing', () => ''],
];

const flaws: readonly (readonly [string, () => Json])[] = [
  ['RS256', () => ({ alg: 'RS256' })],
  ['HS512', () => ({ alg: 'HS512' })],
  ['none', () => ({ alg: 'none' })],
  ['lower case', () => ({ alg: 'hs256' })],
  ['the id of the public key', () => ({ kid: target.forge.kid })],
  ['another key file', () => ({ kid: `${target.forge.kid}.key-2` })],
  ['no key id', () => ({ kid: undefined })],
  ['a key of its own', () => ({ jwk: { kty: 'oct', k: 'AAAA' } })],
  ['another type', () => ({ typ: 'at+jwt' })],
];

const cases: readonly AttackCase[] = [
  ...publicTexts.flatMap(([what, key]) =>
    [
      ['the id of the secret', () => header()],
      ['the id of the public key', () => header({ kid: target.forge.kid })],
    ].map(([named, head]) => ({
      name: `own 60: a code made with ${what}, under ${String(named)}, refreshes nothing`,
      run: () => tryRefresh(tokenOf((head as () => Json)(), coder(key()))),
      expected: no,
    })),
  ),
  ...flaws.map(([what, changes]) => ({
    name: `own 61: the true secret under a header of ${what} refreshes nothing`,
    run: () => tryRefresh(tokenOf(header(changes()), coder(secret))),
    expected: no,
  })),
  {
    name: 'own 61: an RS256 signature under the id of the secret refreshes nothing',
    run: () => tryRefresh(tokenOf(header({ alg: 'RS256' }), target.forge.signer)),
    expected: no,
  },
  {
    name: 'own 61: an RS256 signature under the header of a code refreshes nothing',
    run: () => tryRefresh(tokenOf(header(), target.forge.signer)),
    expected: no,
  },
  {
    name: 'own 62: a code of another hash or length refreshes nothing',
    run: async () => [
      await tryRefresh(tokenOf(header(), coder(secret, 'sha512'))),
      await tryRefresh(tokenOf(header(), (input) => coder(secret)(input).subarray(0, 16))),
      await tryRefresh(tokenOf(header(), () => Buffer.alloc(0))),
    ],
    expected: [no, no, no],
  },
  {
    name: 'own 62: a code respelled in its unused bits refreshes nothing',
    run: () => {
      const token = tokenOf(header(), coder(secret));
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      return tryRefresh(token.slice(0, -1) + alphabet[alphabet.indexOf(token.slice(-1)) + 1]);
    },
    expected: no,
  },
  {
    name: 'own 63: what the key file yields for another purpose or key proves nothing',
    run: async () => {
      const others = [
        await deriveSecret(target.forge.kid, 'audit checkpoint'),
        await deriveSecret('x'.repeat(43)),
      ];
      return Promise.all(others.map((key) => tryRefresh(tokenOf(header(), coder(key)))));
    },
    expected: [no, no],
  },
  {
    name: 'own 64: the claims of an access token proved by the secret refresh nothing',
    run: () => tryRefresh(tokenOf(header(), coder(secret), { token_use: 'access' })),
    expected: no,
  },
  {
    name: 'own 64: a good proof of an expired token refreshes nothing',
    run: async () => {
      const token = tokenOf(header(), coder(secret), { exp: nowSeconds() - 60 });
      return [await tryRefresh(token)].flat()[1];
    },
    expected: 'token_expired',
  },
];

test.each(cases)('$name', async ({ run, expected }) => {
  expect(await run()).toEqual(expected);
});

describe('the secret of refresh tokens', () => {
  test('proves a token of the same claims, so each refusal is for the flaw', async () => {
    expect(await tryRefresh(tokenOf(header(), coder(secret)))).toBe('refreshed');
  });

  test('is not the one of any other key, and makes no access token', async () => {
    const access = tokenOf(header(), coder(secret), decode(target.forge.good, 1));
    expect(await verdictsOf(target, access)).toEqual(refused());
    expect(await verdictsOf(target, target.forge.good)).toEqual(accepted);
  });

  test('stands neither in the key set nor in the database', async () => {
    await createVictim(target);
    const { database } = target.ground;
    const rows = await database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'auth'`,
    );
    let dump = JSON.stringify((await target.auth.call('GET', '/.well-known/jwks.json')).body);
    expect(dump).toContain(target.forge.kid);
    expect(dump).not.toContain('oct');
    expect(dump).not.toContain(secretId());
    for (const { name } of rows) {
      dump += JSON.stringify(await database.query(`select t::text from auth.${name} t`));
    }
    for (const spelling of ['hex', 'base64', 'base64url'] as const) {
      expect(dump).not.toContain(secret.toString(spelling));
    }
  });

  test('is what every refresh token names, and no access token', async () => {
    const { accessToken, refreshToken } = await createVictim(target);
    expect(decode(refreshToken, 0)).toEqual(header());
    expect(decode(accessToken, 0)).toEqual({ alg: 'RS256', typ: 'JWT', kid: target.forge.kid });
    const { kty } = createSecretKey(secret).export({ format: 'jwk' });
    const { body } = await target.auth.call('GET', '/.well-known/jwks.json');
    expect(body.keys.map((key: { kty: string }) => key.kty)).not.toContain(kty);
  });
});

describe('a refresh token signed by the suite with RS256', () => {
  const signed = async () => {
    const { refreshToken } = await createVictim(target);
    const token = tokenOf(target.forge.header(), target.forge.signer, decode(refreshToken, 1));
    await expectToken(token);
    return token;
  };

  test('is traded for a pair, and refreshed on with what replaces it', async () => {
    const { status, body } = await refresh(await signed());
    expect([status, decode(body.refresh_token, 0)['alg']]).toEqual([200, 'HS256']);
    expect((await refresh(body.refresh_token)).status).toBe(200);
  });

  test('is good once', async () => {
    const token = await signed();
    const { body } = await refresh(token);
    await refresh(body.refresh_token);
    const replayed = await refresh(token);
    expect([refusalOf(replayed).code, replayed.body.error.details.reason]).toEqual([
      'invalid_grant',
      'token_reused',
    ]);
  });

  test('is shown as active, and ends its session when revoked', async () => {
    const token = await signed();
    const ask = async () => {
      const url = '/api/v1/auth/introspect';
      const { body } = await target.auth.call('POST', url, {
        token: target.forge.good,
        body: { token },
      });
      return body.active;
    };
    expect(await ask()).toBe(true);
    const revoke = { token: target.forge.good, body: { token } };
    const { body } = await target.auth.call('POST', '/api/v1/auth/revoke', revoke);
    expect(body.revoked).toBe(true);
    expect(await ask()).toBe(false);
    expect(refusalOf(await refresh(token)).code).toBe('invalid_grant');
  });
});

describe('after the emergency revocation of a signing key', () => {
  test('the secret beside it proves nothing more, and ends no session', async () => {
    const { auth, forge } = target;
    const before = await createVictim(target);
    const kid = String(decode(before.refreshToken, 0)['kid']).split('.', 1)[0] ?? '';
    const lost = await deriveSecret(kid);
    const url = `/api/v1/auth/keys/${kid}/revoke`;
    expect((await auth.call('POST', url, { token: forge.good })).status).toBe(200);
    expect(await tryRefresh(before.refreshToken)).toEqual(no);
    const after = await auth.login(before.username, 'a good password');
    const sid = decode(after.body.refresh_token, 1)['sid'];
    const forged = tokenOf(header({ kid: `${kid}.key-1` }), coder(lost), { sid });
    expect(refusalOf(await refresh(forged)).code).toBe('invalid_grant');
    const next = await refresh(after.body.refresh_token);
    expect(next.status).toBe(200);
    expect(decode(next.body.refresh_token, 0)['kid']).not.toBe(`${kid}.key-1`);
  });
});
