import { generate } from 'otplib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

const url = '/api/v1/auth/mfa';
const password = 'a good password';
const stepMs = 30_000;

let ground: Ground;
let auth: RunningAuth;
let admin: string;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
});

// Each code is good once, so the clock goes on by a step wherever a test needs another.
beforeEach(async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
  admin = await auth.adminToken();
});

afterEach(() => {
  vi.useRealTimers();
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function wait(steps = 1) {
  vi.setSystemTime(Date.now() + steps * stepMs);
}

let count = 0;

async function createUser(roles = ['user']) {
  count += 1;
  const username = `user${count}`;
  const body = { username, password, email: 'u@example.com', name: 'U', roles };
  const { body: user } = await auth.call('POST', '/api/v1/auth/users', { token: admin, body });
  const { body: tokens } = await auth.login(username, password);
  return { id: String(user.id), username, token: String(tokens.access_token) };
}

type User = Awaited<ReturnType<typeof createUser>>;

/** A user with a second factor, of which no code of the present step was used. */
async function createEnrolled(roles?: string[]) {
  const user = await createUser(roles);
  const secret = await begin(user);
  const { body } = await verify(user, await codeOf(secret));
  expect(body.enabled).toBe(true);
  wait();
  return { ...user, secret, recoveryCodes: body.recoveryCodes as string[] };
}

async function begin({ token }: User): Promise<string> {
  const answer = await auth.call('POST', `${url}/totp`, { token, body: { password } });
  expect(answer.status).toBe(200);
  return answer.body.secret;
}

function verify({ token }: User, code: string) {
  return auth.call('POST', `${url}/totp/verify`, { token, body: { code } });
}

function codeOf(secret: string, steps = 0): Promise<string> {
  return generate({ secret, epoch: Math.floor((Date.now() + steps * stepMs) / 1000) });
}

/** A code that is none of those that could be accepted now. */
async function wrongCodeOf(secret: string): Promise<string> {
  const good = await Promise.all([-1, 0, 1].map((steps) => codeOf(secret, steps)));
  return ['000000', '111111', '222222', '333333'].find((code) => !good.includes(code)) ?? '';
}

function login({ username }: { username: string }, otp?: string, right = password) {
  const body = { username, password: right, client_id: 'test', grant_type: 'password', otp };
  return auth.call('POST', '/api/v1/auth/login', { body });
}

async function outcomeOf(answer: ReturnType<typeof login>): Promise<string> {
  const { status, body } = await answer;
  return status === 200 ? 'in' : `${status} ${body.error.code}`;
}

async function lastEvents(limit: number) {
  const query = `/api/v1/auth/audit?limit=${limit}`;
  return (await auth.call('GET', query, { token: admin })).body.events;
}

describe('a login with a second factor is refused', () => {
  test('without a code, and only then it says that one is needed', async () => {
    const user = await createEnrolled();
    const answer = await login(user);
    expect(answer.status).toBe(401);
    expect(answer.body.error).toMatchObject({
      type: 'authentication_error',
      code: 'mfa_required',
      details: { methods: ['totp', 'recovery_code'] },
    });
    const wrong = login(user, undefined, 'a wrong password');
    expect(await outcomeOf(wrong)).toBe('401 invalid_credentials');
    const coded = login(user, await codeOf(user.secret), 'a wrong password');
    expect(await outcomeOf(coded)).toBe('401 invalid_credentials');
  });

  test.each(['', 'x', '12345', '1234567', 'aaaa-aaaa-aaaa-aaaa', '１２３４５６'])(
    'with %j in place of a code',
    async (code) => {
      const user = await createEnrolled();
      expect(await outcomeOf(login(user, code))).toBe('401 invalid_otp');
    },
  );

  test('with a code that was accepted before, or one older than that', async () => {
    const user = await createEnrolled();
    const code = await codeOf(user.secret);
    const older = await codeOf(user.secret, -1);
    expect(await outcomeOf(login(user, code))).toBe('in');
    expect(await outcomeOf(login(user, code))).toBe('401 invalid_otp');
    expect(await outcomeOf(login(user, older))).toBe('401 invalid_otp');
  });

  test('with a code of two steps ago or two steps ahead', async () => {
    const user = await createEnrolled();
    wait(3);
    expect(await outcomeOf(login(user, await codeOf(user.secret, -2)))).toBe('401 invalid_otp');
    expect(await outcomeOf(login(user, await codeOf(user.secret, 2)))).toBe('401 invalid_otp');
    expect(await outcomeOf(login(user, await codeOf(user.secret, -1)))).toBe('in');
    expect(await outcomeOf(login(user, await codeOf(user.secret, 1)))).toBe('in');
  });

  test('with the code of another user', async () => {
    const user = await createEnrolled();
    const other = await createEnrolled();
    const code = await codeOf(other.secret);
    const mine = await codeOf(user.secret);
    expect(await outcomeOf(login(user, code))).toBe(code === mine ? 'in' : '401 invalid_otp');
    expect(await outcomeOf(login(user, other.recoveryCodes[0]))).toBe('401 invalid_otp');
  });

  test('after five wrong codes, a right one included, until 15 minutes are over', async () => {
    const user = await createEnrolled();
    for (let tries = 0; tries < 5; tries += 1) {
      expect(await outcomeOf(login(user, await wrongCodeOf(user.secret)))).toBe('401 invalid_otp');
    }
    const blocked = await login(user, await codeOf(user.secret));
    expect([blocked.status, blocked.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(0);
    expect(await outcomeOf(login(user, user.recoveryCodes[0]))).toBe('429 rate_limit_exceeded');
    wait(30);
    expect(await outcomeOf(login(user, await codeOf(user.secret)))).toBe('in');
  });

  test('for all but five of many wrong codes at once', async () => {
    const user = await createEnrolled();
    const wrong = await wrongCodeOf(user.secret);
    const all = await Promise.all(Array.from({ length: 8 }, () => outcomeOf(login(user, wrong))));
    expect(all.filter((one) => one === '401 invalid_otp')).toHaveLength(5);
    expect(all.filter((one) => one === '429 rate_limit_exceeded')).toHaveLength(3);
  });
});

test('of many logins at once with one code exactly one succeeds', async () => {
  const user = await createEnrolled();
  const code = await codeOf(user.secret);
  const all = await Promise.all([1, 2, 3, 4].map(() => outcomeOf(login(user, code))));
  expect(all.toSorted()).toEqual(['401 invalid_otp', '401 invalid_otp', '401 invalid_otp', 'in']);
});

test('a code is good in the groups that apps show', async () => {
  const user = await createUser();
  const secret = await begin(user);
  const grouped = async () => (await codeOf(secret)).replace(/^.../, ' $& ');
  expect((await verify(user, await grouped())).body.enabled).toBe(true);
  wait();
  expect(await outcomeOf(login(user, await grouped()))).toBe('in');
});

test('a recovery code is good once, however it is typed', async () => {
  const user = await createEnrolled();
  expect(new Set(user.recoveryCodes).size).toBe(10);
  const [first = '', second = ''] = user.recoveryCodes;
  const both = [outcomeOf(login(user, first)), outcomeOf(login(user, first))];
  expect((await Promise.all(both)).toSorted()).toEqual(['401 invalid_otp', 'in']);
  const typed = ` ${second.toUpperCase().replaceAll('-', ' ')} `;
  expect(await outcomeOf(login(user, typed))).toBe('in');
  const state = await auth.call('GET', url, { token: user.token });
  expect(state.body).toMatchObject({ totp: { enabled: true }, recoveryCodesLeft: 8 });
});

test('logins, refusals and recovery codes are audited without any code', async () => {
  const user = await createEnrolled();
  const [used = ''] = user.recoveryCodes;
  await login(user);
  await login(user, used);
  const [success, recovery, refusal] = await lastEvents(3);
  expect(success).toMatchObject({ eventType: 'login_success', metadata: { mfa: true } });
  expect(recovery).toMatchObject({
    eventType: 'recovery_code_used',
    userId: user.id,
    metadata: { mfa: true },
  });
  expect(refusal).toMatchObject({
    eventType: 'login_failure',
    metadata: { mfa: false, reason: 'mfa_required' },
  });
  const log = JSON.stringify(await lastEvents(50));
  for (const secret of [user.secret, ...user.recoveryCodes]) expect(log).not.toContain(secret);
});

test('neither the secret nor a recovery code stands in the database', async () => {
  const { secret, recoveryCodes } = await createEnrolled();
  const factors = await ground.database.query('select * from auth.second_factors');
  const codes = await ground.database.query('select encode(hash, $1) from auth.recovery_codes', [
    'escape',
  ]);
  const stored = JSON.stringify([factors, codes]);
  expect(stored).toContain('key-1.');
  for (const text of [secret, ...recoveryCodes]) expect(stored).not.toContain(text);
});

describe('a second factor is not begun', () => {
  test('without the password', async () => {
    const { token } = await createUser();
    const body = { password: 'a wrong password' };
    const answer = await auth.call('POST', `${url}/totp`, { token, body });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_credentials']);
  });

  test('with an API key of the user', async () => {
    const user = await createUser();
    const body = { name: 'k', service: 'k', permissions: ['agent:read'], userId: user.id };
    const key = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
    const token = key.body.api_key;
    for (const [method, path, asked] of [
      ['POST', `${url}/totp`, { password }],
      ['POST', `${url}/totp/verify`, { code: '123456' }],
      ['POST', `${url}/recovery-codes`, { code: '123456' }],
      ['DELETE', `${url}/totp`, { password, code: '123456' }],
    ] as const) {
      const answer = await auth.call(method, path, { token, body: asked });
      expect([answer.status, answer.body.error.code]).toEqual([403, 'login_session_required']);
    }
  });

  test('while one is in force', async () => {
    const { token } = await createEnrolled();
    const answer = await auth.call('POST', `${url}/totp`, { token, body: { password } });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'mfa_already_enabled']);
  });
});

test('a secret is in force only after its first code', async () => {
  const user = await createUser();
  expect((await verify(user, '123456')).body.error.code).toBe('mfa_not_enabled');
  const replaced = await begin(user);
  const secret = await begin(user);
  const state = await auth.call('GET', url, { token: user.token });
  expect(state.body).toEqual({ totp: { enabled: false }, recoveryCodesLeft: 0 });
  expect(await outcomeOf(login(user))).toBe('in');
  const [old, good] = [await codeOf(replaced), await codeOf(secret)];
  if (old !== good) expect((await verify(user, old)).body.error.code).toBe('invalid_otp');
  expect((await verify(user, good)).status).toBe(200);
  expect((await verify(user, good)).body.error.code).toBe('mfa_already_enabled');
  expect(await outcomeOf(login(user))).toBe('401 mfa_required');
});

test('the address for the app names the suite, the user and the secret', async () => {
  const { token, username } = await createUser();
  const { body } = await auth.call('POST', `${url}/totp`, { token, body: { password } });
  const address = new URL(body.otpauthUrl);
  expect(address.protocol).toBe('otpauth:');
  expect(decodeURIComponent(address.pathname)).toContain(`Ennead:${username}`);
  expect(address.searchParams.get('secret')).toBe(body.secret);
});

test('new recovery codes take the place of the old', async () => {
  const user = await createEnrolled();
  const { token } = user;
  const ask = (code: string) =>
    auth.call('POST', `${url}/recovery-codes`, { token, body: { code } });
  expect((await ask(await wrongCodeOf(user.secret))).status).toBe(401);
  const { body } = await ask(await codeOf(user.secret));
  expect(body.recoveryCodes).toHaveLength(10);
  expect(await outcomeOf(login(user, user.recoveryCodes[0]))).toBe('401 invalid_otp');
  expect(await outcomeOf(login(user, body.recoveryCodes[0]))).toBe('in');
});

test('a user ends the second factor with both password and code', async () => {
  const user = await createEnrolled();
  const { token } = user;
  const end = (body: object) => auth.call('DELETE', `${url}/totp`, { token, body });
  const code = await codeOf(user.secret);
  expect((await end({ password: 'a wrong password', code })).status).toBe(401);
  const wrong = await wrongCodeOf(user.secret);
  expect((await end({ password, code: wrong })).body.error.code).toBe('invalid_otp');
  expect((await end({ password, code })).body).toEqual({ enabled: false });
  expect(await outcomeOf(login(user))).toBe('in');
  expect((await end({ password, code })).body.error.code).toBe('mfa_not_enabled');
});

describe('the reset by an administrator', () => {
  test('is refused to strangers, and for users who may do more', async () => {
    const mighty = await createEnrolled(['admin']);
    const path = `/api/v1/auth/users/${mighty.id}/mfa`;
    const { token } = await createUser();
    expect((await auth.call('DELETE', path, { token })).status).toBe(403);
    const body = { name: 'c', service: 'clerk', permissions: ['auth:admin'] };
    const clerk = await auth.call('POST', '/api/v1/auth/api-keys', { token: admin, body });
    expect((await auth.call('DELETE', path, { token: clerk.body.api_key })).status).toBe(403);
    expect(await outcomeOf(login(mighty))).toBe('401 mfa_required');
  });

  test('lets the user in with the password alone, and is audited', async () => {
    const user = await createEnrolled();
    const path = `/api/v1/auth/users/${user.id}/mfa`;
    const answer = await auth.call('DELETE', path, { token: admin });
    expect(answer.body).toEqual({ userId: user.id, reset: true });
    expect((await lastEvents(1))[0]).toMatchObject({
      eventType: 'mfa_reset',
      metadata: { targetUserId: user.id },
    });
    expect(await outcomeOf(login(user))).toBe('in');
    expect((await auth.call('DELETE', path, { token: admin })).body.reset).toBe(false);
    const nobody = await auth.call('DELETE', '/api/v1/auth/users/usr_x/mfa', { token: admin });
    expect(nobody.status).toBe(404);
  });
});
