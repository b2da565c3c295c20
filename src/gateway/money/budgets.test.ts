import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Bus, Topic } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGatewayDatabase } from '../cache/testing.ts';
import type { BudgetLimit } from './budget-store.ts';
import type { BudgetChange } from './budgets.ts';
import type { Money } from './money.ts';
import type { MoneySql } from './spend-store.ts';
import { spendOf, startMoney } from './testing.ts';

let database: Database;
let bus: Bus;
let topic: Topic<BudgetChange>;
let dataFolder: string;
/** Two replicas of the gateway. */
let money: Money;
let replica: Money;
let statements = 0;

const counting: MoneySql = {
  query: (text, parameters) => {
    statements += 1;
    return database.query(text, parameters);
  },
};

beforeAll(async () => {
  database = await openGatewayDatabase();
  bus = await openBus({ log: silentLog });
  topic = bus.topic('gateway.budgets');
  dataFolder = await mkdtemp(join(tmpdir(), 'ennead-money-'));
  money = await startMoney({ sql: counting, topic, dataFolder });
  replica = await startMoney({ sql: database, topic, dataFolder });
});

afterAll(async () => {
  await money[Symbol.asyncDispose]();
  await replica[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(dataFolder, { recursive: true });
});

const payer = (subject: string) => ({ subject, name: undefined });
const estimate = { tokens: 30, dollars: 0.01 };
const limit = (unit: BudgetLimit['unit'], amount: number): BudgetLimit => ({
  unit,
  amount,
  period: 'day',
});

/** Whether a reservation was granted, and which. */
async function tryReserve(who: Money, subject: string, over = {}) {
  return Promise.resolve(who.purse.reserve(payer(subject), { ...estimate, ...over })).catch(
    (error: unknown) => error as Error,
  );
}

async function granted(who: Money, subject: string, over = {}) {
  const outcome = await tryReserve(who, subject, over);
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

test.each<[string, BudgetLimit[]]>([
  ['a unit twice for one period', [limit('tokens', 1), limit('tokens', 2)]],
  ['half a request', [limit('requests', 0.5)]],
])('a budget with %s is refused', async (_title, limits) => {
  await expect(money.budgets.put('usr_x', limits)).rejects.toMatchObject({
    code: 'invalid',
    reason: 'invalid_budget',
  });
  await expect(money.budgets.read('usr_x')).rejects.toMatchObject({ code: 'not_found' });
});

test('who has no budget spends without a statement', () => {
  statements = 0;
  const reservation = money.purse.reserve(payer('usr_free'), estimate);
  expect(reservation).not.toBeInstanceOf(Promise);
  expect(statements).toBe(0);
});

test('a request that does not fit is refused until the period ends, and named', async () => {
  await money.budgets.put('usr_a', [limit('dollars', 0.02), limit('requests', 100)]);
  void (await granted(money, 'usr_a')).settle(spendOf('usr_a', { dollars: 0.015 }));
  await money.ledger.flush();
  const refusal = await tryReserve(money, 'usr_a');
  const untilMidnight = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
  expect(refusal).toMatchObject({
    code: 'exhausted',
    reason: 'budget_exceeded',
    detail: { unit: 'dollars', period: 'day', amount: 0.02, used: 0.015, needed: 0.01 },
  });
  expect((refusal as Error).message).toContain('the budget of 0.02 dollars a day');
  const { retryAfter } = refusal as unknown as { retryAfter: number };
  expect(Math.abs(retryAfter - untilMidnight)).toBeLessThan(5);
  await granted(money, 'usr_a', { dollars: 0.005 });
});

test.each<[BudgetLimit['unit'], object]>([
  ['dollars', { dollars: 0 }],
  ['tokens', { tokens: 0, dollars: 0 }],
])('an overrun of %s leaves room for what takes none', async (unit, nothing) => {
  const subject = `usr_over_${unit}`;
  const amount = unit === 'dollars' ? 0.005 : 20;
  await money.budgets.put(subject, [limit(unit, amount), limit('requests', 2)]);
  void money.ledger.append(spendOf(subject));
  await money.ledger.flush();
  expect(await tryReserve(money, subject)).toMatchObject({ detail: { unit } });
  void (await granted(money, subject, nothing)).settle(spendOf(subject, { dollars: 0 }));
  await money.ledger.flush();
  const last = await tryReserve(money, subject, nothing);
  expect(last).toMatchObject({ detail: { unit: 'requests', needed: 1 } });
});

test('a monthly budget ends with the month', async () => {
  await money.budgets.put('usr_m', [{ unit: 'tokens', amount: 29, period: 'month' }]);
  const refusal = await tryReserve(money, 'usr_m');
  const now = new Date();
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const { retryAfter } = refusal as unknown as { retryAfter: number };
  expect(Math.abs(retryAfter - (end - now.getTime()) / 1000)).toBeLessThan(5);
});

test('what was spent before the budget was put counts, and that of another period does not', async () => {
  void money.ledger.append(spendOf('usr_b'));
  void money.ledger.append(spendOf('usr_b'));
  await money.budgets.put('usr_b', [limit('requests', 2)]);
  expect(await tryReserve(money, 'usr_b')).toMatchObject({ reason: 'budget_exceeded' });
  await database.query(`update gateway.spend_days set day = day - 1 where subject = 'usr_b'`);
  await granted(money, 'usr_b');
});

test('no more is held than there is, however many ask on two replicas at once', async () => {
  await money.budgets.put('usr_c', [limit('requests', 10)]);
  const asked = Array.from({ length: 40 }, (_one, at) =>
    tryReserve(at % 2 === 0 ? money : replica, 'usr_c'),
  );
  const outcomes = await Promise.all(asked);
  const held = outcomes.filter((outcome) => !(outcome instanceof Error));
  expect(held).toHaveLength(10);
  // Others hold it: it may be free in a moment.
  expect(outcomes.find((outcome) => outcome instanceof Error)).toMatchObject({ retryAfter: 5 });
});

test('what is settled takes the place of what was held, and what is released is free', async () => {
  await money.budgets.put('usr_d', [limit('tokens', 100)]);
  const [spent, given] = [await granted(money, 'usr_d'), await granted(money, 'usr_d')];
  expect(await money.budgets.read('usr_d')).toMatchObject({
    limits: [{ unit: 'tokens', amount: 100, period: 'day', used: 0, reserved: 60 }],
  });
  void spent.settle(spendOf('usr_d', { usage: { inputTokens: 1, outputTokens: 2 } }));
  // Once only, whatever the caller does.
  void spent.settle(spendOf('usr_d'));
  spent.release();
  given.release();
  void given.settle(spendOf('usr_d'));
  await money.ledger.flush();
  expect(await replica.budgets.read('usr_d')).toMatchObject({ limits: [{ used: 3, reserved: 0 }] });
});

test('what a provider took that failed half-way costs, but is no request of its own', async () => {
  await money.budgets.put('usr_k', [limit('requests', 1), limit('dollars', 1)]);
  const reservation = await granted(money, 'usr_k');
  reservation.add?.(spendOf('usr_k', { outcome: 'failed', dollars: 0.25 }));
  void reservation.settle(spendOf('usr_k', { dollars: 0.5 }));
  await money.ledger.flush();
  expect(await money.budgets.read('usr_k')).toMatchObject({
    limits: [
      { unit: 'dollars', used: 0.75, reserved: 0 },
      { unit: 'requests', used: 1, reserved: 0 },
    ],
  });
});

test('a settled spend counts at the other replica without anybody asking for it', async () => {
  await money.budgets.put('usr_e', [limit('requests', 1)]);
  void (await granted(money, 'usr_e')).settle(spendOf('usr_e'));
  await expect
    .poll(() => database.query(`select 1 from gateway.spend_days where subject = 'usr_e'`))
    .toHaveLength(1);
  expect(await tryReserve(replica, 'usr_e')).toMatchObject({ reason: 'budget_exceeded' });
});

test('a held request may overrun its estimate; the next is refused then', async () => {
  await money.budgets.put('usr_f', [limit('dollars', 1)]);
  void (await granted(money, 'usr_f')).settle(spendOf('usr_f', { dollars: 3 }));
  await money.ledger.flush();
  expect(await tryReserve(money, 'usr_f', { dollars: 0.01 })).toMatchObject({
    detail: { used: 3, needed: 0.01 },
  });
});

test('what a dead replica held is free after its time, and swept away', async () => {
  await money.budgets.put('usr_g', [limit('requests', 1)]);
  await granted(replica, 'usr_g');
  expect(await tryReserve(money, 'usr_g')).toBeInstanceOf(Error);
  await database.query(
    `update gateway.reservations set expires_at = now() - interval '2 minutes' where subject = 'usr_g'`,
  );
  await granted(money, 'usr_g');
  await money.ledger.sweep();
  const rows = await database.query(`select 1 from gateway.reservations where subject = 'usr_g'`);
  expect(rows).toHaveLength(1);
});

test('other replicas follow a budget at once, and a deleted one holds nobody back', async () => {
  expect(replica.purse.reserve(payer('usr_h'), estimate)).not.toBeInstanceOf(Promise);
  await money.budgets.put('usr_h', [limit('requests', 0)]);
  expect(await tryReserve(replica, 'usr_h')).toMatchObject({ reason: 'budget_exceeded' });
  await money.budgets.delete('usr_h');
  await granted(replica, 'usr_h');
  expect(replica.purse.reserve(payer('usr_h'), estimate)).not.toBeInstanceOf(Promise);
  await expect(money.budgets.delete('usr_h')).rejects.toMatchObject({ code: 'not_found' });
});

test('a replica that no bus tells of a budget keeps to it within seconds', async () => {
  await using other = await openBus({ log: silentLog });
  const deaf = other.topic<BudgetChange>('gateway.budgets');
  await using alone = await startMoney({
    sql: database,
    topic: deaf,
    dataFolder,
    hasUnheardWriters: () => true,
  });
  await money.budgets.put('usr_deaf', [limit('requests', 0)]);
  await expect
    .poll(() => tryReserve(alone, 'usr_deaf'), { timeout: 10_000 })
    .toMatchObject({ reason: 'budget_exceeded' });
});

test('a replica that starts later knows the budgets', async () => {
  await money.budgets.put('usr_i', [limit('requests', 0)]);
  await using late = await startMoney({ sql: database, topic, dataFolder });
  expect(await tryReserve(late, 'usr_i')).toMatchObject({ reason: 'budget_exceeded' });
});

test('while the database is away only those with a budget are refused', async () => {
  await money.budgets.put('usr_j', [limit('requests', 10)]);
  let isAway = false;
  const query: MoneySql['query'] = (text, parameters) =>
    isAway ? Promise.reject(new Error('away')) : database.query(text, parameters);
  await using alone = await startMoney({ sql: { query }, topic, dataFolder });
  isAway = true;
  expect(await tryReserve(alone, 'usr_j')).toMatchObject({ message: 'away' });
  void (await granted(alone, 'usr_free')).settle(spendOf('usr_free'));
  isAway = false;
});

test('the budgets are listed by subject, in pages', async () => {
  const { budgets, total } = await money.budgets.list({ limit: 2, offset: 0 });
  expect(budgets.map(({ subject }) => subject)).toEqual(['usr_a', 'usr_b']);
  expect(total).toBeGreaterThan(5);
});
