import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { adminPassword, startAuth, type RunningAuth } from '../testing.ts';
import { decode } from './forge.ts';
import {
  auditEvents,
  createVictim,
  expectHealthy,
  openTarget,
  refusalOf,
  verdictsOf,
  accepted,
  unlimited,
  type AttackCase,
  type Target,
} from './testing.ts';

let target: Target;

beforeAll(async () => {
  target = await openTarget();
});
afterEach(() => expectHealthy(target));
afterAll(() => target[Symbol.asyncDispose]());

const hostile = {
  line: 'admin\nlogin_success admin',
  return: 'admin\r\nx',
  escape: '\u001B[2Jadmin',
  bidi: '\u202Enimda',
  separator: 'admin\u2028x',
  zero: 'ad\u200Bmin',
  quote: '","eventType":"login_success","x":"',
  html: '<script>alert(1)</script>',
  sql: "'); delete from auth.audit; --",
} as const;

function login(username: string, more: object = {}, headers: Record<string, string> = {}) {
  const body = { username, password: 'x', client_id: 'c', grant_type: 'password', ...more };
  return target.auth.call('POST', '/api/v1/auth/login', { body, headers });
}

async function countEvents(): Promise<number> {
  const url = '/api/v1/auth/audit?limit=1';
  return (await target.auth.call('GET', url, { token: target.forge.good })).body.total;
}

// What acts on a terminal or a line-based log.
const dangerous = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const cases: readonly AttackCase[] = [
  ...Object.entries(hostile).map(([what, text]) => ({
    name: `H54: a username with a ${what} in it stays one harmless event`,
    run: async () => {
      const before = await countEvents();
      await login(text);
      const [event] = await auditEvents(target);
      const isClean = !dangerous.test(event.metadata.username);
      return [(await countEvents()) - before, event.eventType, isClean];
    },
    expected: [1, 'login_failure', true],
  })),
  {
    name: 'H54: a client id and a user agent are cut and cleaned like a username',
    run: async () => {
      await login(
        'x',
        { client_id: `a\u001B[1m${'c'.repeat(200)}` },
        { 'user-agent': 'u'.repeat(2_000) },
      );
      const [event] = await auditEvents(target);
      return [dangerous.test(event.clientId), event.userAgent.length <= 256];
    },
    expected: [false, true],
  },
  {
    name: 'H54: a username of a megabyte is refused and not recorded at length',
    run: async () => {
      const refusal = refusalOf(await login('x'.repeat(1_000_000)));
      const log = JSON.stringify(await auditEvents(target));
      return [refusal.status, log.includes('x'.repeat(300))];
    },
    expected: [400, false],
  },
  {
    name: 'H54: a thousand-letter username is cut in the audit',
    run: async () => {
      await login('n'.repeat(1_000));
      const [event] = await auditEvents(target);
      return event.metadata.username.length <= 256;
    },
    expected: true,
  },
  {
    name: 'H54: a caller sets neither time, type nor subject of its event',
    run: async () => {
      const wishes = {
        eventType: 'login_success',
        userId: 'usr_x',
        timestamp: '2000-01-01',
        mfa: true,
      };
      await login('own-57', wishes);
      const [event] = await auditEvents(target);
      return [event.eventType, event.userId, event.metadata.mfa, event.timestamp > '2020'];
    },
    expected: ['login_failure', '', false, true],
  },
  {
    name: 'H56: after a restart the same key signs and old tokens are good',
    run: async () => {
      await using replica = await startAuth(target.ground);
      const before = await target.auth.call('GET', '/.well-known/jwks.json');
      const after = await replica.call('GET', '/.well-known/jwks.json');
      const body = { token: target.forge.good };
      const { body: validity } = await replica.call('POST', '/api/v1/auth/validate', { body });
      return [JSON.stringify(before.body) === JSON.stringify(after.body), validity.valid];
    },
    expected: [true, true],
  },
  {
    name: 'H56: the private key stands nowhere in the database in the clear',
    run: async () => {
      const rows = await target.ground.database.query('select t::text from auth.signing_keys t');
      const dump = JSON.stringify(rows);
      const [, line = ''] = target.forge.pem.split('\n');
      return [dump.includes(target.forge.kid), dump.includes('PRIVATE KEY'), dump.includes(line)];
    },
    expected: [true, false, false],
  },
  {
    name: 'H56: the key set shows public members alone',
    run: async () => {
      const { body } = await target.auth.call('GET', '/.well-known/jwks.json');
      const names = new Set(body.keys.flatMap((key: object) => Object.keys(key)));
      return [...names].map(String).toSorted();
    },
    expected: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
  },
  ...(['missing', 'another'] as const).map((what) => ({
    name: `H56: with ${what === 'missing' ? 'no key file' : 'another key file'} the service refuses to start and makes no new key`,
    run: async () => {
      const folder = join(target.ground.dataFolder, 'secrets');
      const aside = `${folder}.aside`;
      const before = await listKeyIds();
      await rename(folder, aside);
      try {
        if (what === 'another') await plantKeyFile(folder, aside);
        const start = startAuth(target.ground).then(
          () => 'started',
          (error: { code: string }) => error.code,
        );
        return [await start, (await listKeyIds()).join() === before.join()];
      } finally {
        await rm(folder, { recursive: true, force: true });
        await rename(aside, folder);
      }
    },
    expected: ['conflict', true],
  })),
  {
    name: 'H58: what cannot be audited is not done',
    run: async () => {
      const { database } = target.ground;
      await database.query('alter table auth.audit rename to audit_away');
      const { good } = target.forge;
      const body = {
        username: 'unseen',
        password: 'a good password',
        email: 'a@example.com',
        name: 'A',
        roles: [],
      };
      let status: number;
      try {
        status = (await target.auth.call('POST', '/api/v1/auth/users', { token: good, body }))
          .status;
      } finally {
        await database.query('alter table auth.audit_away rename to audit');
      }
      const rows = await database.query(`select id from auth.users where username = 'unseen'`);
      return [status >= 500, rows.length];
    },
    expected: [true, 0],
  },
  {
    name: 'H58: a login that cannot be audited gives no token',
    run: async () => {
      const { database } = target.ground;
      const { username } = await createVictim(target);
      await database.query('alter table auth.audit rename to audit_away');
      try {
        const reply = await login(username, { password: 'a good password' });
        return [reply.status >= 500, 'access_token' in reply.body];
      } finally {
        await database.query('alter table auth.audit_away rename to audit');
      }
    },
    expected: [true, false],
  },
  {
    name: 'own 57: after all of this the good token is good',
    run: () => verdictsOf(target, target.forge.good),
    expected: accepted,
  },
  ...['PATCH', 'DELETE', 'POST'].map((method) => ({
    name: `own 58: ${method} changes no audit event`,
    run: async () => {
      const { good } = target.forge;
      const reply = await target.auth.call(method as 'PATCH', '/api/v1/auth/audit', {
        token: good,
      });
      return refusalOf(reply).status;
    },
    expected: 405,
  })),
  ...["x' or '1'='1", '%', '*', '__proto__'].map((eventType) => ({
    name: `own 59: the filter ${eventType} of the audit finds what has that name, which is nothing`,
    run: async () =>
      (await auditEvents(target, `&eventType=${encodeURIComponent(eventType)}`)).length,
    expected: 0,
  })),
  ...['2026-02-30T00:00:00Z', 'now()', '-infinity', '0'].map((since) => ({
    name: `own 60: the time ${since} in an audit filter is a bad request`,
    run: async () => {
      const url = `/api/v1/auth/audit?since=${encodeURIComponent(since)}`;
      return refusalOf(await target.auth.call('GET', url, { token: target.forge.good })).status;
    },
    expected: 400,
  })),
  {
    name: 'A10: after a rotation tokens of both keys are good, everywhere and at once',
    run: async () => {
      const { good, kid } = target.forge;
      const rotated = await target.auth.call('POST', '/api/v1/auth/keys/rotate', { token: good });
      const fresh = (await login('admin', { password: adminPassword })).body.access_token;
      return [
        rotated.status,
        decode(fresh, 0)['kid'] === kid,
        await verdictsOf(target, good),
        await verdictsOf(target, fresh),
      ];
    },
    expected: [200, false, accepted, accepted],
  },
  {
    name: 'own 67: who does not administer neither rotates nor ends a key',
    run: async () => {
      const { accessToken: token } = await createVictim(target);
      const ending = `/api/v1/auth/keys/${target.forge.kid}/revoke`;
      return [
        refusalOf(await target.auth.call('POST', '/api/v1/auth/keys/rotate', { token })).status,
        refusalOf(await target.auth.call('POST', ending, { token })).status,
      ];
    },
    expected: [403, 403],
  },
  {
    name: 'H55: ten rotations on two replicas under load make no good token look bad, and no key signs before it was published',
    run: async () => {
      await using replica = await startAuth(target.ground, { environment: unlimited });
      const services = [target.auth, replica];
      const load = new Load(services);
      const unpublished: string[] = [];
      for (let count = 0; count < 10; count += 1) {
        await load.seeChecks(20);
        const before = await vi.waitFor(() => agreeOnKeys(services), { timeout: 30_000 });
        const service = services[count % 2] ?? replica;
        const token = target.forge.good;
        const { body } = await service.call('POST', '/api/v1/auth/keys/rotate', { token });
        if (!before.includes(body.kid)) unpublished.push(body.kid);
      }
      await load.seeChecks(20);
      await load.end();
      return [unpublished, load.wrong, load.kids.size > 5];
    },
    expected: [[], [], true],
  },
];

/** The ids that all replicas publish; fails while they differ. */
async function agreeOnKeys(services: readonly RunningAuth[]): Promise<string[]> {
  const sets = await Promise.all(
    services.map(async (service) => {
      const { body } = await service.call('GET', '/.well-known/jwks.json');
      return body.keys.map(({ kid }: { kid: string }) => kid);
    }),
  );
  for (const set of sets) expect(set).toEqual(sets[0]);
  return sets[0];
}

/** Sessions that refresh without a pause, and have every new token checked by all who verify. */
class Load {
  readonly wrong: unknown[] = [];
  readonly kids = new Set<unknown>();
  readonly #services: readonly RunningAuth[];
  readonly #workers: readonly Promise<void>[];
  #checks = 0;
  #isOver = false;

  constructor(services: readonly RunningAuth[]) {
    this.#services = services;
    this.#workers = [...services, ...services].map((service) => this.#work(service));
  }

  /** Waits for so many more checks, or for the first that went wrong. */
  async seeChecks(count: number): Promise<void> {
    const wanted = this.#checks + count;
    await vi.waitUntil(() => this.#checks >= wanted || this.wrong.length > 0, { timeout: 20_000 });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
  }

  async #work(service: RunningAuth): Promise<void> {
    let { body: pair } = await service.login('admin', adminPassword);
    while (!this.#isOver) {
      await this.#check(pair.access_token);
      const body = { refresh_token: pair.refresh_token, grant_type: 'refresh_token' };
      const refreshed = await service.call('POST', '/api/v1/auth/refresh', { body });
      if (refreshed.status !== 200) return void this.wrong.push(refreshed.body);
      pair = refreshed.body;
    }
  }

  async #check(token: string): Promise<void> {
    this.kids.add(decode(token, 0)['kid']);
    for (const service of this.#services) {
      const answer = await service.call('POST', '/api/v1/auth/validate', { body: { token } });
      if (answer.body.valid !== true) this.wrong.push(answer.body);
    }
    const headers = { authorization: `Bearer ${token}` };
    const answer = await target.relying.app.inject({ url: '/things', headers });
    if (answer.statusCode !== 200) this.wrong.push(answer.payload);
    this.#checks += 1;
  }
}

async function listKeyIds(): Promise<string[]> {
  const rows = await target.ground.database.query<{ kid: string }>(
    'select kid from auth.signing_keys order by kid',
  );
  return rows.map(({ kid }) => kid);
}

/** A key file of the right form that is not the one which sealed the keys. */
async function plantKeyFile(folder: string, model: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  for (const name of await readdir(model)) {
    await writeFile(join(folder, name), randomBytes(32).toString('base64'), { mode: 0o600 });
  }
}

test.each(cases)('$name', async ({ run, expected }) => {
  expect(await run()).toEqual(expected);
});
