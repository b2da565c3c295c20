import { expect, test } from 'vitest';
import { exportJWK, generateKeyPair } from 'jose';
import { Fault } from '../errors.ts';
import { createTestIssuer } from '../testing.ts';
import { Authenticator } from './authenticator.ts';
import { invalidToken } from './claims.ts';
import { createRemoteKeys } from './remote-keys.ts';
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

test('an issuer that is away makes an API key unavailable, not invalid', async () => {
  const issuer = await createTestIssuer();
  const away = new Fault('unavailable', 'away');
  const authenticator = new Authenticator(issuer.verifier, () => Promise.reject(away));
  await expect(authenticator.identify('enn_key')).rejects.toBe(away);
});

test('a key id not seen yet is fetched at once, an invented one at most once a second', async () => {
  const { publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), alg: 'RS256' };
  const published = [{ ...jwk, kid: 'one' }];
  let fetches = 0;
  const keys = createRemoteKeys({
    fetchKeys: async () => {
      fetches += 1;
      return { keys: [...published] };
    },
  });
  const find = (kid: string) => keys({ alg: 'RS256', kid }, { payload: '', signature: '' });
  await find('one');
  published.push({ ...jwk, kid: 'two' });
  await new Promise((resolve) => setTimeout(resolve, 1_010));
  await find('two');
  expect(fetches).toBe(2);
  for (let n = 0; n < 50; n += 1) await expect(find(`invented-${n}`)).rejects.toThrow();
  expect(fetches).toBeLessThanOrEqual(3);
});

test('keys seen once stay in force while the issuer is away', async () => {
  const { publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), alg: 'RS256', kid: 'one' };
  let isAway = true;
  const keys = createRemoteKeys({
    fetchKeys: () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve({ keys: [jwk] }),
  });
  const find = (kid: string) => keys({ alg: 'RS256', kid }, { payload: '', signature: '' });
  await expect(find('one')).rejects.toMatchObject({ code: 'unavailable' });
  isAway = false;
  await new Promise((resolve) => setTimeout(resolve, 1_010));
  const key = await find('one');
  isAway = true;
  expect(await find('one')).toBe(key);
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
