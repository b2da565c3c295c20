import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type RunningAuth } from '../testing.ts';

const base = '/api/v1/auth';
const password = 'a good password';
const lifetime = new Lifetime(silentLog);
/** Two replicas, each with a bus of its own: they meet in the database alone. */
let here: RunningAuth;
let there: RunningAuth;
let admin: string;
let user: { id: string; username: string; access_token: string; refresh_token: string };

beforeAll(async () => {
  const ground = lifetime.own('the ground', await openGround());
  here = lifetime.own('one replica', await startAuth(ground));
  there = lifetime.own('the other', await startAuth(ground));
  admin = await here.adminToken();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

beforeEach(async () => {
  const username = `user${Math.random().toString(36).slice(2)}`;
  const body = { username, password, email: 'u@example.com', name: 'U', roles: ['developer'] };
  const { id } = (await here.call('POST', `${base}/users`, { token: admin, body })).body;
  user = { id, username, ...(await there.login(username, password)).body };
});

async function change(body: object): Promise<void> {
  const { status } = await here.call('PATCH', `${base}/users/${user.id}`, { token: admin, body });
  expect(status).toBe(200);
}

async function refresh(at: RunningAuth) {
  const { refresh_token } = user;
  const body = { refresh_token, grant_type: 'refresh_token' };
  return (await at.call('POST', `${base}/refresh`, { body })).body.access_token as string;
}

const logIn = async (at: RunningAuth) =>
  (await at.login(user.username, password)).body.access_token as string;

describe('a token from one replica, of the second in which another', () => {
  /** The new token once both have heard of the change. */
  const expectGood = async (token: string) => {
    await expect.poll(() => there.validity(user.access_token)).toBe('token_revoked');
    const tokens = [user.access_token, token];
    for (const replica of [here, there]) {
      const found = await Promise.all(tokens.map((one) => replica.validity(one)));
      expect(found).toEqual(['token_revoked', 'valid']);
    }
  };

  test('took roles, is good', async () => {
    await change({ roles: ['user'] });
    await expectGood(await refresh(there));
  });

  test('disabled and enabled its user, is good', async () => {
    await change({ disabled: true });
    await change({ disabled: false });
    await expectGood(await logIn(there));
  });

  test('took roles after it was issued, ends, also when both did so before', async () => {
    await change({ roles: ['user', 'developer'] });
    await change({ roles: ['user'] });
    const token = await refresh(there);
    await change({ roles: [] });
    await expect.poll(() => there.validity(token)).toBe('token_revoked');
    expect(await here.validity(token)).toBe('token_revoked');
  });
});

describe('after the clock was set back', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.now() + 600_000, toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    ['lost roles', [{ roles: ['user'] }]],
    ['was disabled and enabled', [{ disabled: true }, { disabled: false }]],
  ])('who %s before gets a token that is good at once', async (_, changes) => {
    // Ten minutes later at a stroke, nothing is trusted until the revocations were read again.
    await expect.poll(() => here.validity(user.access_token)).toBe('valid');
    for (const body of changes) await change(body);
    vi.useRealTimers();
    const token = await logIn(here);
    expect(await here.validity(token)).toBe('valid');
    const { status } = await here.call('GET', `${base}/userinfo`, { token });
    expect(status).toBe(200);
    expect(await here.validity(user.access_token)).toBe('token_revoked');
  });
});
