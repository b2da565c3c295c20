import { constants, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { encode, nowSeconds, type Forge, type Signer } from './forge.ts';
import {
  accepted,
  expectHealthy,
  openTarget,
  refused,
  verdictsOf,
  type Target,
} from './testing.ts';

let target: Target;

beforeAll(async () => {
  target = await openTarget();
});
afterEach(() => expectHealthy(target));
afterAll(() => target[Symbol.asyncDispose]());

interface TokenCase {
  readonly name: string;
  readonly run: (forge: Forge) => string;
  readonly expected: ReturnType<typeof refused>;
}

const no = refused();
const bomb = deflateRawSync(Buffer.alloc(1_000_000)).toString('base64url');
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const unsigned: Signer = () => Buffer.alloc(0);

/** The good token with its header replaced and its signature kept. */
function reheaded(forge: Forge, changes: object): string {
  const [, payload, signature] = forge.parts;
  return `${encode({ ...forge.header(), ...changes })}.${payload}.${signature}`;
}

function hmac(secret: string | Buffer, hash = 'sha256'): Signer {
  return (input) => createHmac(hash, secret).update(input).digest();
}

function rsa(forge: Forge, hash: string, isPss = false): Signer {
  const padding = isPss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
  return (input) => sign(hash, Buffer.from(input), { key: forge.pem, padding, saltLength });
}

const ecdsa: Signer = (input) =>
  sign('sha256', Buffer.from(input), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' });
const eddsa: Signer = (input) => sign(null, Buffer.from(input), ed.privateKey);

const signatures: TokenCase[] = [
  ...['none', 'None', 'NONE', 'nOnE', ''].map((alg) => ({
    name: `A1: the algorithm "${alg}" opens nothing`,
    run: (forge: Forge) => forge.token({}, { alg }, unsigned),
    expected: no,
  })),
  {
    name: 'A1: the algorithm none with a true signature opens nothing',
    run: (forge) => forge.token({}, { alg: 'none' }),
    expected: no,
  },
  ...(['HS256', 'HS384', 'HS512'] as const).map((alg) => ({
    name: `A2: ${alg} with the public key as its secret opens nothing`,
    run: (forge: Forge) =>
      forge.token({}, { alg }, hmac(forge.publicPem, alg.replace('HS', 'sha'))),
    expected: no,
  })),
  {
    name: 'A2: HS256 with an empty secret opens nothing',
    run: (forge) => forge.token({}, { alg: 'HS256' }, hmac('')),
    expected: no,
  },
  {
    name: 'A2: an HMAC under the name RS256 opens nothing',
    run: (forge) => forge.token({}, {}, hmac(forge.publicPem)),
    expected: no,
  },
  {
    name: 'A3: a token without its signature opens nothing',
    run: ({ parts: [header, payload] }) => `${header}.${payload}.`,
    expected: no,
  },
  {
    name: 'A3: two parts are no token',
    run: ({ parts: [header, payload] }) => `${header}.${payload}`,
    expected: no,
  },
  { name: 'A3: four parts are no token', run: ({ good }) => `${good}.x`, expected: no },
  { name: 'A3: five parts are no token', run: ({ good }) => `${good}.x.y`, expected: no },
  { name: 'A3: dots alone are no token', run: () => '..', expected: no },
  {
    name: 'A3: a signature of zeros opens nothing',
    run: (forge) => forge.token({}, {}, () => Buffer.alloc(256)),
    expected: no,
  },
  {
    name: "A3: another token's signature opens nothing",
    run: (forge) => forge.token().replace(/[^.]+$/, forge.parts[2]),
    expected: no,
  },
  {
    name: 'A4: a changed payload under the old signature opens nothing',
    run: ({ parts: [header, , signature] }) => {
      const claims = { permissions: ['*'], roles: ['admin'], exp: nowSeconds() + 60 };
      return `${header}.${encode(claims)}.${signature}`;
    },
    expected: no,
  },
  {
    name: 'A4: a changed header under the old signature opens nothing',
    run: (forge) => reheaded(forge, { typ: 'JWT', extra: 1 }),
    expected: no,
  },
  ...[
    ['RS384', 'sha384', false],
    ['RS512', 'sha512', false],
    ['PS256', 'sha256', true],
  ].map(([alg, hash, isPss]) => ({
    name: `A11: the suite's own key under ${String(alg)} opens nothing`,
    run: (forge: Forge) => forge.token({}, { alg }, rsa(forge, String(hash), isPss === true)),
    expected: no,
  })),
  {
    name: 'A11: ES256 opens nothing',
    run: (forge) => forge.token({}, { alg: 'ES256' }, ecdsa),
    expected: no,
  },
  {
    name: 'A11: EdDSA opens nothing',
    run: (forge) => forge.token({}, { alg: 'EdDSA' }, eddsa),
    expected: no,
  },
  {
    name: 'A11: a PSS signature under the name RS256 opens nothing',
    run: (forge) => forge.token({}, {}, rsa(forge, 'sha256', true)),
    expected: no,
  },
  {
    name: 'A11: the algorithm rs256 in small letters opens nothing',
    run: (forge) => forge.token({}, { alg: 'rs256' }),
    expected: no,
  },
  {
    name: 'A11: a list of algorithms opens nothing',
    run: (forge) => forge.token({}, { alg: ['RS256', 'none'] }),
    expected: no,
  },
  {
    name: 'A11: a missing algorithm opens nothing',
    run: (forge) => forge.token({}, { alg: undefined }),
    expected: no,
  },
];

const headers: TokenCase[] = [
  ...['../../../../dev/null', '/proc/self/environ', 'file:///etc/passwd'].map((kid) => ({
    name: `A5: the key id ${kid} reads no file`,
    run: (forge: Forge) => forge.token({}, { kid }, hmac('')),
    expected: no,
  })),
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map((kid) => ({
    name: `A6: the key id ${kid} names no key`,
    run: (forge: Forge) => forge.token({}, { kid }, forge.foreignSigner),
    expected: no,
  })),
  ...[7, true, ['a'], { a: 1 }, undefined].map((kid) => ({
    name: `A6: a key id of ${JSON.stringify(kid) ?? 'nothing'} names no key`,
    run: (forge: Forge) => forge.token({}, { kid }),
    expected: no,
  })),
  {
    name: 'A6: a key id with SQL in it names no key',
    run: (forge) => forge.token({}, { kid: "x' or '1'='1" }, forge.foreignSigner),
    expected: no,
  },
  {
    name: 'A7: a key in the header opens nothing',
    run: (forge) =>
      forge.token(
        {},
        { jwk: forge.foreign.publicKey.export({ format: 'jwk' }) },
        forge.foreignSigner,
      ),
    expected: no,
  },
  {
    name: "A7: even the suite's signature opens nothing beside a key in the header",
    run: (forge) => forge.token({}, { jwk: forge.foreign.publicKey.export({ format: 'jwk' }) }),
    expected: no,
  },
  {
    name: 'A7: the address of a key set in the header is not fetched',
    run: (forge) => forge.token({}, { jku: 'http://127.0.0.1:1/keys' }, forge.foreignSigner),
    expected: no,
  },
  {
    name: 'A8: a certificate chain in the header opens nothing',
    run: (forge) => forge.token({}, { x5c: [encode('chain')] }, forge.foreignSigner),
    expected: no,
  },
  {
    name: 'A8: the address of a certificate in the header is not fetched',
    run: (forge) => forge.token({}, { x5u: 'http://169.254.169.254/' }),
    expected: no,
  },
  {
    name: 'A9: a compressed payload is never inflated',
    run: (forge) => {
      const input = `${encode(forge.header({ zip: 'DEF' }))}.${bomb}`;
      return `${input}.${forge.signer(input).toString('base64url')}`;
    },
    expected: no,
  },
  {
    name: 'A9: an encrypted token with a costly key derivation is not decrypted',
    run: () =>
      `${encode({ alg: 'PBES2-HS256+A128KW', enc: 'A128CBC-HS256', p2c: 1e9, p2s: 'x' })}.a.b.c.d`,
    expected: no,
  },
  {
    name: 'A9: the header of an encrypted token over three parts opens nothing',
    run: (forge) => reheaded(forge, { alg: 'dir', enc: 'A256GCM' }),
    expected: no,
  },
  {
    name: 'own 1: an unknown critical header opens nothing',
    run: (forge) => forge.token({}, { crit: ['x'], x: 1 }),
    expected: no,
  },
  {
    name: 'own 2: an unencoded payload (RFC 7797) opens nothing',
    run: (forge) => forge.token({}, { crit: ['b64'], b64: false }),
    expected: no,
  },
  ...['at+jwt', 'dpop+jwt', 'JWS', '', undefined].map((typ) => ({
    name: `own 3: the type ${JSON.stringify(typ) ?? 'left out'} is not taken for an access token`,
    run: (forge: Forge) => forge.token({}, { typ }),
    expected: no,
  })),
  {
    name: 'own 4: a header beyond 16 KiB is not parsed',
    run: (forge) => forge.token({}, { x: 'x'.repeat(20_000) }),
    expected: no,
  },
];

const texts: TokenCase[] = [
  {
    name: 'A12: a header that names alg twice opens nothing',
    run: (forge) =>
      forge.text(`{"alg":"none","alg":"RS256","typ":"JWT","kid":"${forge.kid}"}`, {
        payload: JSON.stringify(forge.claims()),
      }),
    expected: no,
  },
  {
    name: 'A12: a payload that names sub twice opens nothing',
    run: (forge) =>
      forge.text(JSON.stringify(forge.header()), {
        payload: `{"sub":"somebody",${JSON.stringify(forge.claims()).slice(1)}`,
      }),
    expected: no,
  },
  {
    name: 'A12: a name that is spelled once plainly and once escaped stands twice',
    run: (forge) =>
      forge.text(JSON.stringify(forge.header()), {
        payload: String.raw`{"s\u0075b":"somebody",${JSON.stringify(forge.claims()).slice(1)}`,
      }),
    expected: no,
  },
  {
    name: 'A12: a name that stands twice deep inside a claim opens nothing',
    run: (forge) =>
      forge.text(JSON.stringify(forge.header()), {
        payload: JSON.stringify(forge.claims({ x: 0 })).replace('"x":0', '"x":[{"a":1,"a":2}]'),
      }),
    expected: no,
  },
  {
    name: 'A12: colons and quotes inside texts are no names',
    run: (forge) => forge.token({ x: '":":{"\\":"a":1,"a":2', 'y:"y\\': ['::'] }),
    expected: accepted,
  },
  {
    name: 'A13: a payload nested thousands deep overflows no stack',
    run: (forge) => forge.token({ x: JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) }),
    expected: no,
  },
  {
    name: 'A13: a payload nested 100,000 deep is not parsed',
    run: (forge) => forge.text(JSON.stringify(forge.header()), { payload: '['.repeat(100_000) }),
    expected: refused('validation_error'),
  },
  {
    name: 'A13: a payload of 100,000 names is not parsed',
    run: (forge) =>
      forge.token(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1]))),
    expected: refused('too_large'),
  },
  ...['null', '7', '"text"', '[]', '{}', '', 'x', '{"a":1}x', '\uFEFF{}'].map((payload) => ({
    name: `own 5: the payload ${JSON.stringify(payload)} under the suite's signature opens nothing`,
    run: (forge: Forge) => forge.text(JSON.stringify(forge.header()), { payload }),
    expected: no,
  })),
  ...['null', '[]', '"RS256"', '{', ''].map((header) => ({
    name: `own 6: the header ${JSON.stringify(header)} is answered like any bad token`,
    run: (forge: Forge) => forge.text(header, { payload: JSON.stringify(forge.claims()) }),
    expected: no,
  })),
  {
    name: 'own 7: an own member __proto__ in the payload gives no permission',
    run: (forge) =>
      forge.text(JSON.stringify(forge.header()), {
        payload: JSON.stringify(forge.claims({ permissions: undefined })).replace(
          '{',
          '{"__proto__":{"permissions":["*"]},',
        ),
      }),
    expected: { validate: 'valid', auth: 403, relying: 200 },
  },
  {
    name: 'own 8: bytes that are no UTF-8 open nothing',
    run: (forge) => {
      const input = `${encode(forge.header())}.${Buffer.from([0xc3, 0x28, 0xff]).toString('base64url')}`;
      return `${input}.${forge.signer(input).toString('base64url')}`;
    },
    expected: no,
  },
  ...[
    ['a blank before it', (good: string) => ` ${good}`],
    ['a line end behind it', (good: string) => `${good}\n`],
    ['a tab inside it', (good: string) => good.replace('.', '.\t')],
    ['padding', (good: string) => `${good}=`],
    ['a letter of the other alphabet', (good: string) => good.replace(/\.([^.]{5})/, '.$1+')],
    ['a percent escape', (good: string) => good.replace('.', '%2E')],
    ['a full-width dot', (good: string) => good.replace('.', '．')],
    ['a zero-width blank', (good: string) => good.replace('.', '\u200B.')],
    ['its own scheme', (good: string) => `Bearer ${good}`],
  ].map(([what, change]) => ({
    name: `own 9: a good token with ${String(what)} is no token`,
    run: ({ good }: Forge) => (change as (good: string) => string)(good),
    expected: no,
  })),
];

/** A header can only carry visible ASCII; the rest is for those who read tokens from bodies. */
const isHeaderText = (token: string) => /^[\x20-\x7e]*$/.test(token);

describe('a token', () => {
  const cases = [...signatures, ...headers, ...texts];
  test.each(cases)('$name', async ({ run, expected }) => {
    const token = run(target.forge);
    const verdicts = await verdictsOf(target, token, { isSentInHeader: isHeaderText(token) });
    expect(verdicts).toEqual(isHeaderText(token) ? expected : { validate: expected.validate });
  });

  test('of the same key and claims without a flaw is good, so each refusal is for the flaw', async () => {
    expect(await verdictsOf(target, target.forge.token())).toEqual(accepted);
  });

  test('respelled in the unused bits of its signature is no token, also beside the known one', async () => {
    const { good } = target.forge;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const respelled = good.slice(0, -1) + alphabet[alphabet.indexOf(good.slice(-1)) + 1];
    expect(await verdictsOf(target, good)).toEqual(accepted);
    expect(await verdictsOf(target, respelled)).toEqual(no);
  });

  test('that is forged leaves the good one good, also from the cache', async () => {
    const { forge } = target;
    expect(await verdictsOf(target, forge.good)).toEqual(accepted);
    expect(await verdictsOf(target, `${forge.good.slice(0, -8)}AAAAAAAA`)).toEqual(no);
    expect(await verdictsOf(target, forge.good)).toEqual(accepted);
  });
});
