import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWK } from 'jose';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { createRemoteKeys } from './remote-keys.ts';

let jwk: JWK;

beforeAll(async () => {
  const { publicKey } = await generateKeyPair('RS256');
  jwk = { ...(await exportJWK(publicKey)), alg: 'RS256' };
});

/** An issuer whose answers wait for `answer`, and a verifier's view of its keys. */
function createIssuer(...kids: string[]) {
  const published = new Set(kids);
  const held: (() => void)[] = [];
  const state = { fetches: 0, isAway: false, isSlow: false };
  const keys = createRemoteKeys({
    fetchKeys: async (): Promise<JSONWebKeySet> => {
      state.fetches += 1;
      const set = { keys: [...published].map((kid) => ({ ...jwk, kid })) };
      if (state.isSlow) await new Promise<void>((resolve) => held.push(resolve));
      if (state.isAway) throw new Error('away');
      return set;
    },
  });
  return {
    state,
    published,
    /** Lets the oldest fetch that waits end, with what was published when it began. */
    answer: () => held.shift()?.(),
    find: async (kid?: string) =>
      keys({ alg: 'RS256', ...(kid === undefined ? {} : { kid }) }, { payload: '', signature: '' }),
  };
}

const unknown = { code: 'ERR_JWKS_NO_MATCHING_KEY' };

test('a key that was published a moment ago is found at once, one fetch each', async () => {
  const { find, published, state } = createIssuer('one');
  await find('one');
  for (const kid of ['two', 'three', 'four']) {
    published.add(kid);
    await expect(find(kid)).resolves.toBeDefined();
  }
  expect(state.fetches).toBe(4);
  await Promise.all(['one', 'two', 'three', 'four'].map((kid) => find(kid)));
  expect(state.fetches).toBe(4);
});

test('a key published while a fetch runs is looked for by the next fetch, which many share', async () => {
  const { find, published, state, answer } = createIssuer('one');
  state.isSlow = true;
  const early = find('one');
  await setImmediate();
  published.add('two');
  const late = Array.from({ length: 50 }, () => find('two'));
  await setImmediate();
  expect(state.fetches).toBe(1);
  answer();
  await early;
  await setImmediate();
  expect(state.fetches).toBe(2);
  answer();
  await expect(Promise.all(late)).resolves.toHaveLength(50);
  expect(state.fetches).toBe(2);
});

test('invented key ids are refused and hardly reach the issuer', async () => {
  const { find, state } = createIssuer('one');
  await find('one');
  const startedAt = performance.now();
  for (let round = 0; round < 11; round += 1) {
    const invented = Array.from({ length: 20 }, (_, n) => find(`invented-${round}-${n}`));
    for (const found of invented) await expect(found).rejects.toMatchObject(unknown);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  expect(state.fetches).toBeLessThanOrEqual(11 + 2 * seconds);
});

test('a new key is found also while invented ids have used up what may be asked', async () => {
  const { find, published, state } = createIssuer('one');
  await find('one');
  while (state.fetches < 10) await expect(find(`invented-${state.fetches}`)).rejects.toThrow();
  const invented = [find('invented-a'), find('invented-b')];
  published.add('two');
  await expect(find('two')).resolves.toBeDefined();
  for (const found of invented) await expect(found).rejects.toMatchObject(unknown);
});

test('of those who wait for one fetch only so many are kept, and the others are not refused', async () => {
  const { find, state, answer } = createIssuer('one');
  state.isSlow = true;
  const first = find('one');
  const waiting = Array.from({ length: 1_100 }, (_, n) =>
    find(`invented-${n}`).catch((error: { code: string }) => error.code),
  );
  const early = await Promise.all(waiting.slice(999));
  expect(new Set(early)).toEqual(new Set(['unavailable']));
  answer();
  await first;
  await setImmediate();
  answer();
  expect(new Set(await Promise.all(waiting.slice(0, 999)))).toEqual(new Set([unknown.code]));
});

test('a token that names no key is refused without a fetch', async () => {
  const { find, state } = createIssuer('one');
  await expect(find()).rejects.toMatchObject(unknown);
  expect(state.fetches).toBe(0);
});

test('keys seen once stay in force while the issuer is away, and others are not called wrong', async () => {
  const { find, state } = createIssuer('one');
  state.isAway = true;
  await expect(find('one')).rejects.toMatchObject({ code: 'unavailable' });
  state.isAway = false;
  const key = await find('one');
  state.isAway = true;
  await expect(find('two')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await find('one')).toBe(key);
});

test('a key that left the set is dropped with the next fetch', async () => {
  const { find, published } = createIssuer('one', 'two');
  await find('one');
  published.delete('one');
  published.add('three');
  await find('three');
  await expect(find('one')).rejects.toMatchObject(unknown);
  await expect(find('two')).resolves.toBeDefined();
});
