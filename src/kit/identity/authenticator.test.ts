import { expect, test } from 'vitest';
import { Fault } from '../errors.ts';
import { createTestIssuer } from '../testing.ts';
import { Authenticator } from './authenticator.ts';
import { invalidToken } from './claims.ts';
import { ServiceToken } from './service-token.ts';

test('an API key is traded once, also when many ask at the same time', async () => {
  const issuer = await createTestIssuer();
  let trades = 0;
  const authenticator = new Authenticator(issuer.verifier, async () => {
    trades += 1;
    return { accessToken: await issuer.sign({ sub: 'svc_1' }), expiresIn: 3600 };
  });
  const asked = Array.from({ length: 20 }, async () => authenticator.identify('enn_key'));
  const identities = await Promise.all(asked);
  expect(identities.every(({ subject }) => subject === 'svc_1')).toBe(true);
  await authenticator.identify('enn_key');
  expect(trades).toBe(1);
});

test('an API key whose token was revoked is traded anew, and refused if the issuer refuses it', async () => {
  const issuer = await createTestIssuer();
  let isRevoked = false;
  const authenticator = new Authenticator(issuer.verifier, async () => {
    if (isRevoked) throw invalidToken('no');
    return { accessToken: await issuer.sign({ sid: 'key_1' }), expiresIn: 3600 };
  });
  await authenticator.identify('enn_key');
  isRevoked = true;
  const at = Date.now() / 1000;
  issuer.revocations.add({ kind: 'session', id: 'key_1', revokedAt: at, expiresAt: at + 3600 });
  await expect(authenticator.identify('enn_key')).rejects.toMatchObject({
    code: 'unauthenticated',
    detail: { reason: 'api_key_invalid' },
  });
});

test('what has the form of neither is called so, and the issuer is not asked', async () => {
  const issuer = await createTestIssuer();
  const exchange = () => Promise.reject(new Error('asked'));
  const isApiKey = (text: string) => text.startsWith('enn_');
  const authenticator = new Authenticator(issuer.verifier, exchange, isApiKey);
  await expect(authenticator.identify('abc')).rejects.toMatchObject({
    code: 'unauthenticated',
    message: 'this is neither a token nor an API key',
    detail: { reason: 'token_invalid' },
  });
});

test('an issuer that is away makes an API key unavailable, not invalid', async () => {
  const issuer = await createTestIssuer();
  const away = new Fault('unavailable', 'away');
  const authenticator = new Authenticator(issuer.verifier, () => Promise.reject(away));
  await expect(authenticator.identify('enn_key')).rejects.toBe(away);
});

test('a service logs in once for its token and again after it was told to forget it', async () => {
  let logins = 0;
  const token = new ServiceToken({
    readApiKey: async () => 'enn_service',
    exchange: async () => ({ accessToken: `token-${(logins += 1)}`, expiresIn: 3600 }),
  });
  expect(await Promise.all([token.get(), token.get()])).toEqual(['token-1', 'token-1']);
  token.forget();
  expect(await token.get()).toBe('token-2');
});
