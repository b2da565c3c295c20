import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuthTables, Sql } from '../tables.ts';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import { appendAuditRecords } from './audit-store.ts';
import { openCheckpointKey } from './checkpoint-key.ts';
import { failKeyLogin } from './testing.ts';
import { verifyAudit } from './verification.ts';

const base = '/api/v1/auth';
const tables = ['audit', 'audit_head', 'audit_checkpoints'];

let ground: Ground;
let auth: RunningAuth;
let other: RunningAuth;
let admin: string;
let sql: Sql;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
  other = await startAuth(ground);
  admin = await auth.adminToken();
  sql = ground.database.kysely<AuthTables>('auth');
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

async function verify(service = auth) {
  return (await service.call('GET', `${base}/audit/verify`, { token: admin })).body;
}

/** Starts and stops a replica, each of which signs the log. */
async function signLog(): Promise<void> {
  await (await startAuth(ground))[Symbol.asyncDispose]();
}

async function countRows(table: string): Promise<number> {
  const [row] = await ground.database.query<{ count: number }>(
    `select count(*) as count from auth.${table}`,
  );
  return row?.count ?? 0;
}

describe('the verification', () => {
  test('is for administrators alone', async () => {
    const body = {
      username: 'reader',
      password: 'a good password',
      email: 'r@example.com',
      name: '',
    };
    const user = { ...body, roles: ['user'] };
    await auth.call('POST', `${base}/users`, { token: admin, body: user });
    const token = (await auth.login('reader', 'a good password')).body.access_token;
    expect((await auth.call('GET', `${base}/audit/verify`)).status).toBe(401);
    expect((await auth.call('GET', `${base}/audit/verify`, { token })).status).toBe(403);
  });

  test('finds one whole chain after two replicas wrote at once, alone and in transactions', async () => {
    const newKey = { name: 'k', service: 'worker', permissions: [] };
    const writers = [auth, other].flatMap((service) => [
      ...Array.from({ length: 30 }, () => failKeyLogin(service)),
      ...Array.from({ length: 5 }, () =>
        service.call('POST', `${base}/api-keys`, { token: admin, body: newKey }),
      ),
    ]);
    const statuses = new Set((await Promise.all(writers)).map(({ status }) => status));
    expect(statuses).toEqual(new Set([201, 401]));
    const count = await countRows('audit');
    expect(count).toBeGreaterThanOrEqual(70);
    const verdict = await verify();
    expect(verdict).toMatchObject({ valid: true, checked: count, head: { seq: count } });
    expect(verdict.head.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await verify(other)).toEqual(verdict);
    expect(await countRows('audit_pending')).toBe(0);
  });

  test('needs no running service', async () => {
    const checkpointKey = await openCheckpointKey(ground.dataFolder);
    const verdict = await verifyAudit(sql, { checkpointKey });
    expect(verdict).toMatchObject({ valid: true, checked: await countRows('audit') });
  });
});

describe('a log that was changed behind the service', () => {
  let last: number;

  beforeAll(async () => {
    await signLog();
    last = await countRows('audit');
    for (const name of tables) {
      await ground.database.query(`create table public.kept_${name} as table auth.${name}`);
    }
  });

  beforeEach(async () => {
    expect(await verify()).toMatchObject({ valid: true });
  });

  afterEach(async () => {
    for (const name of tables) {
      await ground.database.query(`delete from auth.${name}`);
      await ground.database.query(`insert into auth.${name} select * from public.kept_${name}`);
    }
  });

  afterAll(async () => {
    for (const name of tables) await ground.database.query(`drop table public.kept_${name}`);
  });

  const copy =
    'insert into auth.audit select $1::bigint, event_type, user_id, occurred_at, ip, user_agent, client_id, metadata, hash from auth.audit where seq = 5';

  test.each([
    ['a changed text', "update auth.audit set user_agent = 'x' where seq = 5", 5, 'event_changed'],
    [
      'a changed fact',
      `update auth.audit set metadata = metadata || '{"mfa":true}' where seq = 6`,
      6,
      'event_changed',
    ],
    [
      'a changed time',
      "update auth.audit set occurred_at = occurred_at - interval '1 hour' where seq = 7",
      7,
      'event_changed',
    ],
    ['a removed hash', 'update auth.audit set hash = null where seq = 8', 8, 'event_changed'],
    ['a deleted event', 'delete from auth.audit where seq = 5', 5, 'event_missing'],
    ['a log that was emptied', 'delete from auth.audit', 1, 'event_missing'],
    [
      'two events that changed places',
      'update auth.audit set seq = case seq when 5 then -5 else 5 end where seq in (5, 6); update auth.audit set seq = 6 where seq = -5',
      5,
      'event_changed',
    ],
    ['a lost head', 'delete from auth.audit_head', 1, 'head_changed'],
    [
      'a forged checkpoint',
      "update auth.audit_checkpoints set signature = 'key-1.AAAA'",
      'the first checkpoint',
      'checkpoint_forged',
    ],
    [
      'a checkpoint of a key that never was',
      "update auth.audit_checkpoints set signature = replace(signature, 'key-1.', 'key-9.')",
      'the first checkpoint',
      'checkpoint_forged',
    ],
  ])('shows %s', async (_, change, place, reason) => {
    for (const statement of change.split('; ')) await ground.database.query(statement);
    const [first] = await ground.database.query<{ seq: number }>(
      'select min(seq) as seq from public.kept_audit_checkpoints',
    );
    const brokenAt = typeof place === 'number' ? place : first?.seq;
    const verdict = await verify();
    expect(verdict).toMatchObject({ valid: false, brokenAt, reason });
    expect(verdict.checked).toBe(Number(brokenAt) - 1);
  });

  test('shows a tail that was cut off, also when the head was set back', async () => {
    await ground.database.query('delete from auth.audit where seq > $1', [last - 2]);
    const missing = { valid: false, brokenAt: last - 1, reason: 'event_missing' };
    expect(await verify()).toMatchObject(missing);
    await ground.database.query(
      'update auth.audit_head as head set seq = a.seq, hash = a.hash from auth.audit a where a.seq = $1',
      [last - 2],
    );
    expect(await verify()).toMatchObject(missing);
    await ground.database.query('delete from auth.audit_checkpoints');
    expect(await verify()).toMatchObject(missing);
  });

  test.each([
    ['after the last', 1],
    ['before the first', 0],
  ])('shows an event that was put in %s', async (_, isAfter) => {
    const seq = isAfter ? last + 1 : 0;
    await ground.database.query(copy, [seq]);
    const verdict = await verify();
    expect(verdict).toMatchObject({ valid: false, brokenAt: seq, reason: 'event_inserted' });
  });

  test('shows a history that was written again as a whole chain, by its checkpoints', async () => {
    const [model] = await sql.selectFrom('audit').selectAll().where('seq', '=', 5).execute();
    const { seq: _, hash: __, ...record } = model ?? expect.unreachable();
    await ground.database.query('delete from auth.audit where seq > 4');
    await ground.database.query('delete from auth.audit_checkpoints');
    await ground.database.query(
      'update auth.audit_head as head set seq = a.seq, hash = a.hash from auth.audit a where a.seq = 4',
    );
    const forged = Array.from({ length: last - 4 }, () => ({ ...record, user_agent: 'forged' }));
    await appendAuditRecords(sql, forged);
    expect(await verifyAudit(sql)).toMatchObject({ valid: true, checked: last });
    const verdict = await verify();
    expect(verdict).toMatchObject({ valid: false, brokenAt: last, reason: 'history_rewritten' });
  });

  test('is not signed any further', async () => {
    await failKeyLogin(auth);
    await ground.database.query('delete from auth.audit where seq = $1', [last + 1]);
    const count = await countRows('audit_checkpoints');
    await signLog();
    expect(await countRows('audit_checkpoints')).toBe(count);
    const verdict = await verify();
    expect(verdict).toMatchObject({ valid: false, brokenAt: last + 1, reason: 'event_missing' });
  });
});

describe('the audit log', () => {
  test('is signed every 1,000 events while the service runs', async () => {
    const count = await countRows('audit_checkpoints');
    for (let at = 0; at < 11; at += 1) {
      await Promise.all(Array.from({ length: 100 }, () => failKeyLogin(auth)));
    }
    await expect.poll(() => countRows('audit_checkpoints')).toBeGreaterThan(count);
    expect(await verify()).toMatchObject({ valid: true });
  });

  test('lets nothing happen that it cannot hold, and goes on when it can again', async () => {
    await ground.database.query('alter table auth.audit_head rename to audit_head_away');
    const newKey = { name: 'unheard', service: 'worker', permissions: [] };
    try {
      const created = await auth.call('POST', `${base}/api-keys`, { token: admin, body: newKey });
      expect(created.status).toBe(500);
      expect((await auth.login('admin', adminPassword)).status).toBe(500);
    } finally {
      await ground.database.query('alter table auth.audit_head_away rename to audit_head');
    }
    const keys = await ground.database.query("select 1 from auth.api_keys where name = 'unheard'");
    expect(keys).toEqual([]);
    expect((await auth.login('admin', adminPassword)).status).toBe(200);
    expect(await verify()).toMatchObject({ valid: true });
  });

  test('takes texts of any kind and reads them back as they were hashed', async () => {
    const usernames = [`${'\n'.repeat(40)}${'😀'.repeat(200)}`, '\uD800x', 'é\u0000', '"\\{}'];
    for (const username of usernames) {
      const body = { username, password: 'x', client_id: `c${username}`, grant_type: 'password' };
      const { status } = await auth.call('POST', `${base}/login`, { body });
      expect([400, 401]).toContain(status);
    }
    expect(await verify()).toMatchObject({ valid: true });
  });
});
