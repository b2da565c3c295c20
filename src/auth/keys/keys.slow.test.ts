import { decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRemoteKeys } from '../../kit/identity/remote-keys.ts';
import { RevocationList } from '../../kit/identity/revocations.ts';
import { Verifier } from '../../kit/identity/verifier.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import {
  keysOf,
  kidOf,
  logIn,
  readActiveKid,
  readHeldStates,
  refresh,
  rotate,
  validate,
} from './testing.ts';

const environment = { AUTH_REFRESHES_PER_HOUR: '1000000', AUTH_KEY_REREAD_SECONDS: '0' };
const keysUrl = '/api/v1/auth/keys';
const waiting = { timeout: 5_000, interval: 20 };

let ground: Ground;
let one: RunningAuth;
let other: RunningAuth;

beforeAll(async () => {
  ground = await openGround();
  one = await startAuth(ground, { environment });
  other = await startAuth(ground, { environment });
});

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

async function revoke(service: RunningAuth, kid: string, body?: unknown) {
  const token = await service.adminToken();
  return service.call('POST', `${keysUrl}/${kid}/revoke`, { token, body });
}

/** Has both replicas know the keys as they are; answers the id of the one that signs. */
async function agree(): Promise<string> {
  for (const service of [one, other]) {
    await service.host.bus.topic('signing-keys').publish({ kid: '' });
  }
  const kid = await readActiveKid(ground);
  for (const service of [one, other]) {
    await vi.waitFor(async () => expect((await keysOf(service))[0]).toBe(kid), waiting);
  }
  return kid;
}

async function auditOf(eventType: string) {
  const url = `/api/v1/auth/audit?eventType=${eventType}`;
  return (await one.call('GET', url, { token: await one.adminToken() })).body.events;
}

describe('the signing keys', () => {
  test('are administered by nobody who lacks auth:admin', async () => {
    const user = { username: 'plain', password: 'violet anvils sing at dusk' };
    const body = { ...user, email: 'plain@example.com', name: 'Plain', roles: ['user'] };
    const admin = await one.adminToken();
    const made = await one.call('POST', '/api/v1/auth/users', { token: admin, body });
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    const token = (await one.login(user.username, user.password)).body.access_token;
    const kid = await kidOf(one);
    const ways = [
      ['GET', keysUrl],
      ['POST', `${keysUrl}/rotate`],
      ['POST', `${keysUrl}/${kid}/revoke`],
    ] as const;
    for (const [method, url] of ways) {
      expect((await one.call(method, url)).status).toBe(401);
      expect((await one.call(method, url, { token })).status).toBe(403);
    }
    expect(await kidOf(one)).toBe(kid);
  });

  test.each(['unknown', '__proto__', '..%2F..%2Fetc', 'x'.repeat(43)])(
    'cannot be revoked under the unknown id %s',
    async (kid) => {
      const before = await keysOf(one);
      const { status, body } = await revoke(one, kid);
      expect([status, body.error.code]).toEqual([404, 'key_not_found']);
      expect(await keysOf(one)).toEqual(before);
    },
  );

  test('are one that signs and one that waits, and the list shows no half of them', async () => {
    const token = await one.adminToken();
    const { status, body } = await one.call('GET', `${keysUrl}?limit=5`, { token });
    expect([status, body.total, body.limit, body.offset]).toEqual([200, 2, 5, 0]);
    expect(body.keys.map(({ state }: { state: string }) => state).toSorted()).toEqual([
      'active',
      'pending',
    ]);
    for (const key of body.keys) {
      expect(Object.keys(key).toSorted()).toEqual(['createdAt', 'kid', 'state', 'stateChangedAt']);
    }
    const shown = body.keys.map(({ kid }: { kid: string }) => kid).toSorted();
    expect((await keysOf(one)).toSorted()).toEqual(shown);
  });
});

describe('a rotation', () => {
  test('lets the waiting key sign at once and ends no token', async () => {
    const [active, pending] = await keysOf(one);
    const { etag } = (await one.call('GET', '/.well-known/jwks.json')).headers;
    const before = await logIn(one);
    const { status, body } = await rotate(one);
    expect([status, body.kid, body.previousKid]).toEqual([200, pending, active]);
    expect(Date.parse(body.rotatedAt)).toBeLessThanOrEqual(Date.now());
    expect(await kidOf(one)).toBe(pending);
    const published = await one.call('GET', '/.well-known/jwks.json', {
      headers: { 'if-none-match': String(etag) },
    });
    expect([published.status, published.headers['cache-control']]).toEqual([
      200,
      'public, max-age=300',
    ]);
    const kids = await keysOf(one);
    expect([kids.length, kids[0], kids[2]]).toEqual([3, pending, active]);
    expect((await one.call('GET', '/api/v1/health')).body.signingKeys).toBe(3);
    expect((await validate(one, before.access_token)).valid).toBe(true);
    expect((await refresh(one, before.refresh_token)).status).toBe(200);
    expect((await auditOf('signing_key_rotated'))[0].metadata).toMatchObject({
      kid: pending,
      previousKid: active,
    });
  });

  test('leaves no private half of the key before in the database', async () => {
    const { previousKid } = (await rotate(one)).body;
    const select = 'select kid from auth.signing_keys where private_key = $1';
    const erased = await ground.database.query<{ kid: string }>(select, ['']);
    expect(erased.map(({ kid }) => kid)).toContain(previousKid);
    expect(erased.map(({ kid }) => kid)).not.toContain(await kidOf(one));
  });

  test('is honoured by a replica that has not heard of it', async () => {
    await rotate(one);
    await rotate(one);
    const { access_token, refresh_token } = await logIn(one);
    expect(await kidOf(other)).not.toBe(decodeProtectedHeader(access_token).kid);
    expect((await validate(other, access_token)).valid).toBe(true);
    expect((await refresh(other, refresh_token)).status).toBe(200);
    expect(await keysOf(other)).toEqual(await keysOf(one));
  });

  test('is shown by a replica that has not heard of it', async () => {
    const { kid } = (await rotate(one)).body;
    expect(await kidOf(other)).not.toBe(kid);
    await vi.waitFor(async () => expect(await keysOf(other)).toEqual(await keysOf(one)), waiting);
  });

  test('is taken over by a replica that hears of it', async () => {
    const { kid } = (await rotate(one)).body;
    expect(await kidOf(other)).not.toBe(kid);
    await other.host.bus.topic('signing-keys').publish({ kid });
    await vi.waitFor(async () => expect(await kidOf(other)).toBe(kid), waiting);
  });

  test('is taken over by a replica that shares a server and hears of nothing', async (context) => {
    context.skip(ground.database.dialect === 'pglite', 'PGlite has one process alone');
    const settings = { ...environment, AUTH_KEY_REREAD_SECONDS: '0.2' };
    await using deaf = await startAuth(ground, { environment: settings });
    const { kid } = (await rotate(one)).body;
    await vi.waitFor(async () => expect(await kidOf(deaf)).toBe(kid), waiting);
    await agree();
  });

  test('happens twice when two replicas are asked at the same time', async () => {
    const [first, second] = (await Promise.all([rotate(one), rotate(other)])).map(
      ({ body }) => body,
    );
    const isFirstBefore = first.kid === second.previousKid;
    expect(second.kid === first.previousKid).toBe(!isFirstBefore);
    expect(await readHeldStates(ground)).toEqual(['active', 'pending']);
    const signed = [await logIn(one), await logIn(other)];
    for (const { access_token } of signed) {
      expect((await validate(one, access_token)).valid).toBe(true);
      expect((await validate(other, access_token)).valid).toBe(true);
    }
  });

  test('never makes a good token look bad, ten times in a row under load', async () => {
    const remote = new Verifier({
      issuer: one.url,
      keys: createRemoteKeys({
        fetchKeys: async () =>
          (await one.call('GET', '/.well-known/jwks.json')).body as JSONWebKeySet,
      }),
      revocations: new RevocationList(),
    });
    const issued: string[] = [];
    const refused: unknown[] = [];
    const rotations = { left: 10 };
    const check = async (token: string) => {
      await Promise.resolve(remote.verify(token)).catch((error: unknown) => refused.push(error));
      if (!(await validate(other, token)).valid) refused.push('replica');
      if (!(await validate(one, token)).valid) refused.push('issuer');
    };
    const work = async (service: RunningAuth) => {
      let pair = await logIn(service);
      while (rotations.left > 0) {
        issued.push(pair.access_token);
        await check(pair.access_token);
        const refreshed = await refresh(service, pair.refresh_token);
        if (refreshed.status !== 200) throw new Error('a good refresh token was refused');
        pair = refreshed.body;
      }
    };
    const workers = [one, other, one, other].map(work);
    for (; rotations.left > 0; rotations.left -= 1) {
      await rotate(other);
    }
    await Promise.all(workers);
    expect(refused).toEqual([]);
    const kids = new Set(issued.map((token) => decodeProtectedHeader(token).kid));
    expect(kids.size).toBeGreaterThan(5);
    await Promise.all(issued.map(check));
    expect(refused).toEqual([]);
  });
});

describe('an emergency revocation', () => {
  test('of the key that signs ends all its tokens on every replica, and the next takes over', async () => {
    const kid = await agree();
    const [, pending] = await keysOf(one);
    const [here, there] = [await logIn(one), await logIn(other)];
    expect((await validate(other, here.access_token)).valid).toBe(true);

    const { status, body } = await revoke(one, kid, { reason: 'it was in a backup' });
    expect([status, body]).toEqual([
      200,
      { kid, revoked: true, activeKid: pending, revokedAt: expect.any(String) },
    ]);
    expect(await keysOf(one)).not.toContain(kid);
    expect((await validate(one, here.access_token)).valid).toBe(false);
    const refused = await refresh(one, here.refresh_token);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_grant']);

    await vi.waitFor(
      async () => expect((await validate(other, there.access_token)).valid).toBe(false),
      waiting,
    );
    expect((await refresh(other, there.refresh_token)).status).toBe(400);
    expect(await kidOf(other)).toBe(pending);
    expect(await keysOf(other)).toEqual(await keysOf(one));
    expect((await auditOf('signing_key_revoked'))[0].metadata).toMatchObject({
      kid,
      activeKid: pending,
      reason: 'it was in a backup',
    });
  });

  test('needs no body, and a second one changes nothing', async () => {
    const [, pending = ''] = await keysOf(one);
    const first = await revoke(one, pending);
    const kids = await keysOf(one);
    expect(kids).not.toContain(pending);
    expect(await readHeldStates(ground)).toEqual(['active', 'pending']);
    const second = await revoke(one, pending);
    expect(second.body).toEqual(first.body);
    expect(await keysOf(one)).toEqual(kids);
  });

  test('of a key that only another replica still signs with turns that one to the next', async () => {
    const kid = await agree();
    const rotated = (await rotate(one)).body.kid;
    expect(await kidOf(other)).toBe(kid);
    const held = await logIn(other);
    expect((await revoke(one, kid)).body.activeKid).toBe(rotated);
    await vi.waitFor(async () => expect(await kidOf(other)).toBe(rotated), waiting);
    expect(await keysOf(other)).not.toContain(kid);
    expect((await validate(other, held.access_token)).valid).toBe(false);
    expect((await refresh(other, held.refresh_token)).status).toBe(400);
  });

  test('never leaves the suite without a key that signs', async () => {
    for (const kid of (await keysOf(one)).slice(0, 3)) {
      expect((await revoke(one, kid)).status).toBe(200);
      expect(await keysOf(one)).not.toContain(kid);
    }
    expect(await readHeldStates(ground)).toEqual(['active', 'pending']);
    expect((await validate(one, (await logIn(one)).access_token)).valid).toBe(true);
  });

  test('of one key by two replicas at once is one revocation', async () => {
    const kid = await agree();
    const token = await one.adminToken();
    const url = `${keysUrl}/${kid}/revoke`;
    const answers = await Promise.all([one, other].map((to) => to.call('POST', url, { token })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    const select = 'select 1 from auth.revocations where id = $1';
    expect(await ground.database.query(select, [kid])).toHaveLength(1);
  });
});
