import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

const lifetime = new Lifetime(silentLog);
const url = '/api/v1/auth/revoke';
let ground: Ground;
let auth: RunningAuth;
let admin: string;
let pair: Pair;

beforeAll(async () => {
  ground = lifetime.own('the ground', await openGround());
  auth = lifetime.own('auth', await startAuth(ground));
  admin = await auth.adminToken();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

beforeEach(async () => {
  pair = (await auth.login('admin', adminPassword)).body;
});

async function revoke(token: string, at: RunningAuth = auth) {
  const { status, body } = await at.call('POST', url, { token: admin, body: { token } });
  expect([status, body.revoked, body.jti]).toEqual([200, true, decodeJwt(token).jti]);
  return body.revokedAt;
}

/** Moves everything that was revoked a minute into the past, as if that time had gone by. */
async function age(): Promise<void> {
  await ground.database.query('update auth.revocations set revoked_at = revoked_at - 60');
  await ground.database.query(
    "update auth.sessions set revoked_at = revoked_at - interval '1 minute'",
  );
}

function aMinuteBefore(time: string): string {
  return new Date(Date.parse(time) - 60_000).toISOString();
}

describe('revoking again', () => {
  test('an access token does not move the time, also after a restart', async () => {
    const first = await revoke(pair.access_token);
    await age();
    await using restarted = await startAuth(ground);
    expect(await revoke(pair.access_token, restarted)).toBe(aMinuteBefore(first));
  });

  test('an access token that another replica had revoked before answers that time', async () => {
    const { jti = '', exp = 0 } = decodeJwt(pair.access_token);
    const first = await revoke(pair.access_token);
    const revokedAt = Date.parse(first) / 1000;
    for (const told of [revokedAt - 100, revokedAt + 100]) {
      const revocation = { kind: 'token', id: jti, revokedAt: told, expiresAt: exp };
      await auth.host.bus.topic('revocations').publish(revocation);
    }
    expect(await revoke(pair.access_token)).toBe(new Date((revokedAt - 100) * 1000).toISOString());
  });

  test('a refresh token does not move the time, long after the session ended', async () => {
    const first = await revoke(pair.refresh_token);
    await age();
    expect(await revoke(pair.refresh_token)).toBe(aMinuteBefore(first));
  });

  test('an access token of a session that has ended answers when that was', async () => {
    await revoke(pair.refresh_token);
    await age();
    const [ended] = await ground.database.query<{ at: number }>(
      'select revoked_at as at from auth.revocations where id = $1',
      [decodeJwt(pair.access_token)['sid']],
    );
    await using restarted = await startAuth(ground);
    const told = Date.parse(await revoke(pair.access_token, restarted));
    expect(told).toBe(Number(ended?.at) * 1000);
  });
});

test('what has expired by itself was not revoked, and what was revoked before says when', async () => {
  const { access_token: ended } = (await auth.login('admin', adminPassword)).body;
  const at = await revoke(ended);
  vi.useFakeTimers({ now: Date.now() + 3_606_000, toFake: ['Date'] });
  try {
    // By then the list of revocations has been read anew; one that is an hour old is not trusted.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const token = (await auth.login('admin', adminPassword)).body.access_token;
    const send = (text: string) => auth.call('POST', url, { token, body: { token: text } });
    const { status, body } = await send(pair.access_token);
    expect([status, body]).toEqual([
      200,
      { revoked: false, jti: decodeJwt(pair.access_token).jti },
    ]);
    expect((await send(ended)).body.revokedAt).toBe(at);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ['abc', 'token_invalid'],
  ['enn_abc', 'token_invalid'],
  ['a.b.c', 'token_invalid'],
])('%s as bearer is told to be no token, not a bad API key', async (token, reason) => {
  const { status, body } = await auth.call('POST', url, { token, body: { token: admin } });
  expect([status, body.error.code, body.error.details]).toEqual([401, 'invalid_token', { reason }]);
  expect(body.error.message).not.toMatch(/API key is/);
});
