import { base64url, CompactSign, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestIssuer, type TestIssuer } from '../testing.ts';

let issuer: TestIssuer;
let publicPem: string;
let foreign: Awaited<ReturnType<typeof generateKeyPair>>;

beforeAll(async () => {
  issuer = await createTestIssuer();
  foreign = await generateKeyPair('RS256', { extractable: true });
  publicPem = await exportSPKI(foreign.publicKey);
});

const now = () => Math.floor(Date.now() / 1000);
const encode = (value: unknown) => base64url.encode(JSON.stringify(value));

async function reasonOf(token: string): Promise<unknown> {
  try {
    await issuer.verifier.verify(token);
    return 'accepted';
  } catch (error) {
    const { code, detail } = error as { code: string; detail: { reason: string } };
    return code === 'unauthenticated' ? detail.reason : error;
  }
}

/** A token with this header and payload, and a signature of nothing. */
async function unsigned(header: object): Promise<string> {
  const [, payload] = (await issuer.sign()).split('.');
  return `${encode(header)}.${payload}.`;
}

describe('tokens that are forged are refused', () => {
  const forgeries: [string, () => Promise<string>][] = [
    ['of alg none', () => unsigned({ alg: 'none', typ: 'JWT', kid: issuer.keyId })],
    [
      'signed with HMAC over the public key',
      async () => {
        const [, payload] = (await issuer.sign()).split('.');
        const input = `${encode({ alg: 'HS256', typ: 'JWT', kid: issuer.keyId })}.${payload}`;
        return `${input}.${createHmac('sha256', publicPem).update(input).digest('base64url')}`;
      },
    ],
    ['without their signature', async () => (await issuer.sign()).replace(/[^.]+$/, '')],
    ['of two parts', async () => (await issuer.sign()).split('.').slice(0, 2).join('.')],
    ['of five parts', async () => `${await issuer.sign()}.a.b`],
    [
      'with a changed payload',
      async () => {
        const [header, , signature] = (await issuer.sign()).split('.');
        const claims = { sub: 'usr_test', permissions: ['*'], exp: now() + 99 };
        return `${header}.${encode(claims)}.${signature}`;
      },
    ],
    ['whose kid is a path', () => issuer.sign({}, { kid: '../../../../dev/null' })],
    ['whose kid is __proto__', () => issuer.sign({}, { kid: '__proto__' })],
    ['without a kid', () => issuer.sign({}, { kid: undefined })],
    [
      'that bring their own key',
      async () =>
        new SignJWT({ sub: 'a', token_use: 'access' })
          .setProtectedHeader({
            alg: 'RS256',
            typ: 'JWT',
            kid: issuer.keyId,
            jwk: await exportJWK(foreign.publicKey),
          })
          .sign(foreign.privateKey),
    ],
    ['that point to a key', () => issuer.sign({}, { jku: 'http://127.0.0.1:1/jwks.json' })],
    ['that bring a certificate', () => issuer.sign({}, { x5c: ['AAAA'] })],
    ['that are compressed', () => issuer.sign({}, { zip: 'DEF' })],
    [
      'signed by a foreign key',
      async () =>
        new SignJWT({ sub: 'a' })
          .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: issuer.keyId })
          .sign(foreign.privateKey),
    ],
    [
      'of alg RS512',
      async () => {
        const { privateKey } = await generateKeyPair('RS512');
        return new SignJWT({ sub: 'a' })
          .setProtectedHeader({ alg: 'RS512', typ: 'JWT', kid: issuer.keyId })
          .sign(privateKey);
      },
    ],
    ['of another typ', () => issuer.sign({}, { typ: 'at+jwt' })],
    [
      'whose payload is no object',
      async () =>
        new CompactSign(new TextEncoder().encode('[1,2]'))
          .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: issuer.keyId })
          .sign(issuer.privateKey),
    ],
    ['longer than 16 KiB', () => issuer.sign({ scope: 'x'.repeat(20_000) })],
  ];
  test.each(forgeries)('%s', async (_name, forge) => {
    expect(await reasonOf(await forge())).toBe('token_invalid');
  });
});

function signatureOf(token: string): Buffer {
  return Buffer.from(token.split('.')[2] ?? '', 'base64url');
}

test('another spelling of the same signature is refused, also of a token that is known', async () => {
  const token = await issuer.sign();
  expect(await reasonOf(token)).toBe('accepted');
  // 256 bytes leave four bits of the last character unused: A, Q, g or w, and fifteen that follow each.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const more of [1, 15]) {
    const last = alphabet.at(alphabet.indexOf(token.at(-1) ?? '') + more);
    const text = `${token.slice(0, -1)}${last}`;
    expect(signatureOf(text)).toEqual(signatureOf(token));
    expect(await reasonOf(text)).toBe('token_invalid');
  }
});

describe('claims that do not fit are refused', () => {
  const misfits: [string, Record<string, unknown>, string][] = [
    ['an exp in the past', { exp: now() - 60 }, 'token_expired'],
    ['an exp of text', { exp: '9999999999' }, 'token_invalid'],
    ['no exp', { exp: undefined }, 'token_invalid'],
    ['an nbf in the future', { nbf: now() + 600 }, 'token_invalid'],
    ['another audience', { aud: ['other'] }, 'token_invalid'],
    ['an audience with a space', { aud: ['ennead '] }, 'token_invalid'],
    ['no audience', { aud: [] }, 'token_invalid'],
    ['another issuer', { iss: 'http://issuer.test/' }, 'token_invalid'],
    ['no jti', { jti: undefined }, 'token_invalid'],
    ['no sub', { sub: undefined }, 'token_invalid'],
    ['no session', { sid: undefined }, 'token_invalid'],
    ['the use of a refresh token', { token_use: 'refresh' }, 'token_invalid'],
    ['no use', { token_use: undefined }, 'token_invalid'],
  ];
  test.each(misfits)('%s', async (_name, claims, reason) => {
    expect(await reasonOf(await issuer.sign(claims))).toBe(reason);
  });
});

describe('good tokens', () => {
  test('give the identity that their claims state', async () => {
    const token = await issuer.sign({ roles: ['admin'], permissions: ['*'], aud: 'ennead' });
    expect(await issuer.verifier.verify(token)).toMatchObject({
      subject: 'usr_test',
      kind: 'user',
      roles: ['admin'],
      permissions: ['*'],
      email: 'test@example.com',
    });
  });

  test('are known at once the second time, as a value and no promise', async () => {
    const token = await issuer.sign();
    await issuer.verifier.verify(token);
    expect(issuer.verifier.verify(token)).not.toBeInstanceOf(Promise);
  });

  const revocations = [
    ['token', 'jti-1'],
    ['session', 'ses-1'],
    ['subject', 'sub-1'],
  ] as const;
  test.each(revocations)('are refused from then on when their %s is revoked', async (kind, id) => {
    const { sign, verifier, revocations: list } = await createTestIssuer();
    const token = await sign({ jti: 'jti-1', sid: 'ses-1', sub: 'sub-1' });
    const other = await sign({ jti: 'jti-2', sid: 'ses-2', sub: 'sub-2' });
    await verifier.verify(token);
    list.add({ kind, id, revokedAt: now(), expiresAt: now() + 3600 });
    expect(() => verifier.verify(token)).toThrow('the token was revoked');
    await expect(verifier.verify(other)).resolves.toMatchObject({ subject: 'sub-2' });
  });

  test('are good until a planned revocation begins, and no longer', async () => {
    const { sign, verifier, revocations: list } = await createTestIssuer();
    const token = await sign({ sid: 'planned' });
    const at = now() + 2;
    const revocation = { kind: 'session', id: 'planned', expiresAt: at + 3600 } as const;
    list.add({ ...revocation, revokedAt: at, planned: true });
    list.add({ ...revocation, revokedAt: at + 2, planned: true });
    await verifier.verify(token);
    vi.useFakeTimers({ now: at * 1000 - 1, toFake: ['Date'] });
    try {
      expect(await verifier.verify(token)).toMatchObject({ sessionId: 'planned' });
      vi.setSystemTime(at * 1000);
      expect(() => verifier.verify(token)).toThrow('the token was revoked');
    } finally {
      vi.useRealTimers();
    }
  });

  test('issued after their subject was revoked are accepted, whatever the clocks say', async () => {
    const ended = (tokenEpoch: number, revokedAt: number) =>
      issuer.revocations.add({
        kind: 'subject',
        id: 'sub-3',
        revokedAt,
        expiresAt: revokedAt + 3600,
        tokenEpoch,
      });
    const reasonAt = async (token_epoch: unknown) =>
      reasonOf(await issuer.sign({ sub: 'sub-3', token_epoch }));
    ended(3, now() + 600);
    ended(2, now() + 900);
    expect(await reasonAt(2)).toBe('token_revoked');
    expect(await reasonAt(3)).toBe('accepted');
    for (const none of [undefined, '3', 3.5]) expect(await reasonAt(none)).toBe('token_revoked');
  });

  test('are refused when their signing key is revoked', async () => {
    const other = await createTestIssuer();
    const token = await other.sign();
    await other.verifier.verify(token);
    other.revocations.add({
      kind: 'key',
      id: other.keyId,
      revokedAt: now(),
      expiresAt: now() + 3600,
    });
    expect(() => other.verifier.verify(token)).toThrow('the token was revoked');
  });
});
