import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import type { AuthTables, Sql } from '../tables.ts';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import { Allowances } from './allowances.ts';
import { LeasedLimit } from './leased-limit.ts';

const base = '/api/v1/auth';
const environment = {
  AUTH_LOGIN_ATTEMPTS: '3',
  AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: '3',
  AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: '50',
  AUTH_REFRESHES_PER_HOUR: '2',
  AUTH_VALIDATIONS_PER_MINUTE: '4',
};

let ground: Ground;
let auth: RunningAuth;
let other: RunningAuth;
let sql: Sql;

beforeAll(async () => {
  ground = await openGround();
  const peers = [{ name: 'studio', url: 'http://studio.test', grants: [] }];
  auth = await startAuth(ground, { environment, peers });
  other = await startAuth(ground, { environment });
  sql = ground.database.kysely<AuthTables>('auth');
});

beforeEach(async () => {
  await ground.database.query('delete from auth.allowances');
  await ground.database.query('delete from auth.known_addresses');
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

interface Login {
  readonly username?: string;
  readonly password?: string;
  readonly ip?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function login({ username = 'admin', password = 'wrong', ip, headers }: Login, service = auth) {
  const body = { username, password, client_id: 'test', grant_type: 'password' };
  const options = { body, ...(ip ? { ip } : {}), ...(headers ? { headers } : {}) };
  return service.call('POST', `${base}/login`, options);
}

function validate(ip: string, service = auth) {
  return service.call('POST', `${base}/validate`, { body: { token: 'x' }, ip });
}

describe('logins', () => {
  test('of one user are counted exactly by two replicas, one after the other and at once', async () => {
    const turns = [auth, other, auth, other, auth];
    const statuses = [];
    for (const service of turns) statuses.push((await login({ username: 'a' }, service)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const crowd = Array.from({ length: 10 }, (_, at) =>
      login({ username: 'b', ip: `10.0.0.${at}` }, at % 2 ? auth : other),
    );
    const refused = (await Promise.all(crowd)).filter(({ status }) => status === 429);
    expect(refused).toHaveLength(7);
  });

  test('are refused for no longer than an attempt takes to grow back, when the clock was set back', async () => {
    await login({ username: 'd' });
    await ground.database.query("update auth.allowances set full_at = full_at + interval '2 days'");
    const { status, headers } = await login({ username: 'd' });
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(300);
  });

  test('are counted on after a restart', async () => {
    for (let count = 0; count < 3; count += 1) await login({ username: 'c' });
    await using again = await startAuth(ground, { environment });
    const { status, headers, body } = await login({ username: 'c' }, again);
    expect(status).toBe(429);
    expect(body.error.code).toBe('rate_limit_exceeded');
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
    // One of three attempts in 15 minutes grows back in five.
    expect(Number(headers['retry-after'])).toBeGreaterThan(290);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(300);
    expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1000 + 800);
  });

  test('are refused in every spelling of the name and for every forwarded address', async () => {
    const spellings = ['victim', ' VICTIM ', 'ｖｉｃｔｉｍ', 'Victim', 'victim\u00A0'];
    const statuses = [];
    for (const [at, username] of spellings.entries()) {
      const headers = { 'x-forwarded-for': `203.0.113.${at}`, 'x-real-ip': `203.0.113.${at}` };
      statuses.push((await login({ username, headers })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });

  test('from the addresses of one IPv6 /64 count as from one', async () => {
    await login({ password: adminPassword, ip: '2001:db8::1' });
    for (let at = 2; at < 4; at += 1) await login({ ip: `2001:db8::${at}` });
    expect((await login({ ip: '2001:db8::ffff:9' })).status).toBe(429);
    expect((await login({ ip: '2001:db8:0:1::1', username: 'else' })).status).toBe(401);
  });

  test('show no difference between a user and nobody', async () => {
    const seen = [];
    for (const username of ['admin', 'nobody-at-all']) {
      for (let at = 0; at < 4; at += 1) {
        const { status, headers } = await login({ username, ip: `10.2.0.${at}` });
        seen.push([
          username,
          status,
          headers['x-ratelimit-limit'],
          headers['x-ratelimit-remaining'],
        ]);
      }
    }
    const [user, nobody] = [seen.slice(0, 4), seen.slice(4)];
    expect(user.map(([, ...rest]) => rest)).toEqual(nobody.map(([, ...rest]) => rest));
    expect(user.map(([, status]) => status)).toEqual([401, 401, 401, 429]);
  });

  test('elsewhere never lock a user out of an address from which they logged in', async () => {
    const home = '10.3.0.1';
    expect((await login({ password: adminPassword, ip: home })).status).toBe(200);
    const attempts = Array.from({ length: 12 }, (_, at) => login({ ip: `10.4.0.${at}` }));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect((await login({ password: adminPassword, ip: '10.4.1.1' })).status).toBe(429);
    const { status, headers } = await login({ password: adminPassword, ip: home }, other);
    expect(status).toBe(200);
    expect(headers['x-ratelimit-remaining']).toBe('1');
  });

  test('from an address that was not used for 30 days count as from anywhere', async () => {
    const home = '10.5.0.1';
    await login({ password: adminPassword, ip: home });
    for (let at = 0; at < 3; at += 1) await login({ ip: `10.6.0.${at}` });
    await ground.database.query(
      "update auth.known_addresses set last_seen_at = now() - interval '31 days'",
    );
    expect((await login({ password: adminPassword, ip: home })).status).toBe(429);
  });

  test('of one address are bounded over all accounts, and a refused one costs an account nothing', async () => {
    const ip = '10.7.0.1';
    await using strict = await startAuth(ground, {
      environment: { ...environment, AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: '2' },
    });
    const statuses = [];
    for (const username of ['u1', 'u2', 'u3', 'u3', 'u3', 'u3']) {
      statuses.push((await login({ username, ip }, strict)).status);
    }
    expect(statuses).toEqual([401, 401, 429, 429, 429, 429]);
    expect((await login({ username: 'u3', ip: '10.7.0.2' }, strict)).status).toBe(401);
  });

  test('are refused while nothing can be counted', async () => {
    await ground.database.query('alter table auth.allowances rename to allowances_away');
    try {
      expect((await login({ password: adminPassword })).status).toBe(500);
    } finally {
      await ground.database.query('alter table auth.allowances_away rename to allowances');
    }
    expect((await login({ password: adminPassword })).status).toBe(200);
  });
});

describe('a login that a service passes on', () => {
  const tokenOf = async (api_key: string) => {
    const body = { api_key, client_id: 'test' };
    return (await auth.call('POST', `${base}/api-key`, { body })).body.access_token as string;
  };
  const serviceToken = async () =>
    tokenOf((await readFile(join(ground.dataFolder, 'service-keys', 'studio.key'), 'utf8')).trim());
  const from = (ip: string, token?: string) => ({
    'user-agent': `browser of ${ip}`,
    'x-ennead-caller-address': ip,
    ...(token === undefined ? {} : { 'x-ennead-service-token': token }),
  });

  test('counts for the address that it came from, and is audited with it', async () => {
    const token = await serviceToken();
    const pass = (ip: string, more: Login = {}) => login({ ...more, headers: from(ip, token) });
    const { status, body } = await pass('10.12.0.1', { password: adminPassword });
    expect(status).toBe(200);
    const guesses = [];
    for (let at = 0; at < 4; at += 1) guesses.push((await pass(`10.12.1.${at}`)).status);
    expect(guesses).toEqual([401, 401, 429, 429]);
    expect((await pass('10.12.0.1', { password: adminPassword })).status).toBe(200);
    expect((await login({ username: 'else', ip: '10.12.1.1' })).status).toBe(401);
    const query = `${base}/audit?limit=100&eventType=login_failure`;
    const { events } = (await auth.call('GET', query, { token: body.access_token })).body;
    expect(events).toContainEqual(
      expect.objectContaining({ ip: '10.12.1.0', userAgent: 'browser of 10.12.1.0' }),
    );
  });

  test('is refused when nobody vouches, or one who is no service of the suite', async () => {
    const admin = await auth.adminToken();
    const wanted = { name: 'k', service: 'robot', permissions: ['*'] };
    const made = await auth.call('POST', `${base}/api-keys`, { token: admin, body: wanted });
    const vouchers = [undefined, 'x', `${(await serviceToken()).slice(0, -8)}AAAAAAAA`];
    for (const token of vouchers) {
      const headers = from('10.13.0.1', token);
      const { status, body } = await login({ password: adminPassword, headers });
      expect([status, body.error.code]).toEqual([401, 'invalid_token']);
      expect(body.error.details).toEqual({ reason: 'voucher_refused' });
    }
    for (const token of [admin, await tokenOf(made.body.api_key)]) {
      const headers = from('10.13.0.1', token);
      const { status, body } = await login({ password: adminPassword, headers });
      expect([status, body.error.details.required]).toEqual([403, 'suite:peer']);
    }
  });
});

describe('refreshes', () => {
  test('beyond the limit of a session are refused, and the token stays good', async () => {
    let token = (await login({ password: adminPassword })).body.refresh_token;
    const refresh = (service: RunningAuth) =>
      service.call('POST', `${base}/refresh`, {
        body: { refresh_token: token, grant_type: 'refresh_token' },
      });
    for (const [remaining, service] of [
      ['1', auth],
      ['0', other],
    ] as const) {
      const { status, body, headers } = await refresh(service);
      expect([status, headers['x-ratelimit-remaining']]).toEqual([200, remaining]);
      token = body.refresh_token;
    }
    const refused = await refresh(auth);
    expect(refused.status).toBe(429);
    expect(refused.headers['x-ratelimit-limit']).toBe('2');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1700);
    await ground.database.query('update auth.sessions set refreshes_full_at = now()');
    const answered = await refresh(auth);
    expect(answered.status).toBe(200);
    const [row] = await ground.database.query<{ generation: number }>(
      'select max(generation) as generation from auth.sessions',
    );
    expect(row?.generation).toBe(3);
  });
});

describe('validations', () => {
  test('of one address are counted by two replicas, and others are not refused', async () => {
    const replies = [];
    for (const service of [auth, other, auth, other, auth, other]) {
      replies.push(await validate('10.8.0.1', service));
    }
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429]);
    expect(replies[0]?.headers['x-ratelimit-limit']).toBe('4');
    expect(replies[0]?.headers['x-ratelimit-remaining']).toBe('3');
    expect(Number(replies[4]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await validate('10.8.0.2')).status).toBe(200);
  });

  test('go on, bounded by each replica, while nothing can be counted together', async () => {
    await ground.database.query('alter table auth.allowances rename to allowances_away');
    try {
      const statuses = [];
      for (let at = 0; at < 5; at += 1) statuses.push((await validate('10.9.0.1')).status);
      expect(statuses).toEqual([200, 200, 200, 200, 429]);
    } finally {
      await ground.database.query('alter table auth.allowances_away rename to allowances');
    }
  });
});

describe('a limit that is leased', () => {
  // So slow that nothing grows back during a test.
  const rate = { attempts: 1000, windowSeconds: 86_400_000 };

  function openLimit(name: string): LeasedLimit & AsyncDisposable {
    return new LeasedLimit({ name, rate, allowances: new Allowances(sql), log: silentLog });
  }

  async function takeAll(limit: LeasedLimit, attempts: number): Promise<number> {
    const taken = Array.from({ length: attempts }, async () => limit.take('k'));
    return (await Promise.all(taken)).filter(({ isAllowed }) => isAllowed).length;
  }

  test('allows one replica exactly as many attempts as it has', async () => {
    await using limit = openLimit('alone');
    let statements = 0;
    for (let at = 0; at < 1000; at += 1) {
      const answer = limit.take('k');
      if (answer instanceof Promise) statements += 1;
      expect(await answer).toMatchObject({ isAllowed: true, limit: 1000, remaining: 999 - at });
    }
    expect(statements).toBeLessThan(50);
    expect(await limit.take('k')).toMatchObject({ isAllowed: false, remaining: 0 });
    expect(limit.take('k')).not.toBeInstanceOf(Promise);
  });

  test('allows two replicas together never more, and what they gave back is there', async () => {
    const limits = [openLimit('both'), openLimit('both')];
    let allowed = 0;
    for (const attempts of [3, 150, 400]) {
      const counts = await Promise.all(limits.map((limit) => takeAll(limit, attempts)));
      allowed += counts.reduce((sum, count) => sum + count, 0);
    }
    expect(allowed).toBeLessThanOrEqual(1000);
    for (const limit of limits) await limit[Symbol.asyncDispose]();
    await using last = openLimit('both');
    expect(allowed + (await takeAll(last, 1000))).toBe(1000);
  });

  test('goes on by itself while the database hangs, and together with others afterwards', async () => {
    await using limit = openLimit('hanging');
    expect(await limit.take('k')).toMatchObject({ remaining: 999 });
    await sql.transaction().execute(async () => {
      for (const key of ['k', 'm', 'k']) expect((await limit.take(key)).isAllowed).toBe(true);
    });
    await using second = openLimit('hanging');
    await vi.waitFor(async () => {
      const { remaining } = await limit.take('n');
      expect((await second.take('n')).remaining).toBeLessThan(remaining);
    }, 5_000);
  });

  test('gives back what a lease left over', async () => {
    const first = openLimit('left');
    for (let at = 0; at < 20; at += 1) await first.take('k');
    await first[Symbol.asyncDispose]();
    await using second = openLimit('left');
    expect(await second.take('k')).toMatchObject({ isAllowed: true, remaining: 979 });
  });
});
