import { readFileSync, statSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Bus, Topic } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGatewayDatabase } from '../cache/testing.ts';
import type { BudgetChange } from './budgets.ts';
import { Journal } from './journal.ts';
import type { MoneySql, SpendQuery } from './spend-store.ts';
import { spendOf, startMoney } from './testing.ts';

let database: Database;
let bus: Bus;
let topic: Topic<BudgetChange>;
let dataFolder: string;

beforeAll(async () => {
  database = await openGatewayDatabase();
  bus = await openBus({ log: silentLog });
  topic = bus.topic('gateway.budgets');
});

beforeEach(async () => {
  await database.query('truncate gateway.spend_days, gateway.spend_runs');
  dataFolder = await mkdtemp(join(tmpdir(), 'ennead-money-'));
});

afterEach(() => rm(dataFolder, { recursive: true }));

afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const start = (sql: MoneySql = database, environment = {}) =>
  startMoney({ sql, topic, dataFolder, environment });
const away: MoneySql = { query: () => Promise.reject(new Error('away')) };
const folder = () => join(dataFolder, 'gateway');
const journalFiles = async () =>
  (await readdir(folder())).filter((name) => name.endsWith('.journal'));

const everything: SpendQuery = {
  from: '2000-01-01',
  to: '2999-12-31',
  groupBy: 'key',
  subject: undefined,
  limit: 100,
  offset: 0,
};

/** Leaves a journal behind as a killed process would. */
async function leaveJournal(count: number, subject = 'usr_dead'): Promise<void> {
  const options = { dataFolder, bytesMax: 64 * 1024 * 1024, log: silentLog };
  await using journal = await Journal.open(options);
  for (let at = 0; at < count; at += 1) void journal.append(spendOf(subject));
}

test('a report counts what was settled a moment ago, to the cent', async () => {
  await using money = await start();
  const { ledger } = money;
  for (let at = 0; at < 10; at += 1) void ledger.append(spendOf('usr_1', { dollars: 0.1 }));
  void ledger.append(spendOf('usr_1', { dollars: 0.0000012, outcome: 'aborted' }));
  void ledger.append(spendOf('usr_2', { outcome: 'cached', dollars: 5 }));
  const { spend, totals, total } = await ledger.report(everything);
  expect(total).toBe(2);
  expect(spend[0]).toEqual({
    group: 'usr_1',
    name: 'name of usr_1',
    requests: 11,
    cachedRequests: 0,
    inputTokens: 110,
    cachedInputTokens: 44,
    outputTokens: 220,
    dollars: 1.0000012,
  });
  expect(spend[1]).toMatchObject({ requests: 1, cachedRequests: 1, inputTokens: 0, dollars: 0 });
  expect(totals).toMatchObject({ requests: 12, dollars: 1.0000012 });
  const own = await ledger.report({ ...everything, subject: 'usr_2', groupBy: 'provider' });
  expect(own).toMatchObject({ total: 1, spend: [{ group: 'openai', requests: 1 }] });
});

test('sums are by model, provider or day, in pages, within the days asked for', async () => {
  await using money = await start();
  const { ledger } = money;
  for (const model of ['a', 'b', 'c']) void ledger.append(spendOf('usr_1', { model }));
  void ledger.append(spendOf('usr_1', { model: 'c', provider: 'other' }));
  const models = await ledger.report({ ...everything, groupBy: 'model', limit: 2 });
  expect(models.spend.map(({ group }) => group)).toEqual(['c', 'a']);
  expect(models).toMatchObject({ total: 3, totals: { requests: 4 } });
  const today = new Date().toISOString().slice(0, 10);
  const days = await ledger.report({ ...everything, groupBy: 'day' });
  expect(days.spend).toMatchObject([{ group: today, requests: 4 }]);
  const before = await ledger.report({ ...everything, to: '2001-01-01' });
  expect(before).toMatchObject({ spend: [], total: 0, totals: { requests: 0, dollars: 0 } });
});

test('hostile figures and texts are made harmless, not stuck in the journal', async () => {
  await using money = await start();
  const usage = { inputTokens: Number.NaN, outputTokens: -3, cachedInputTokens: 1e300 };
  const model = `m\0${'x'.repeat(1000)}\ud800`;
  void money.ledger.append(spendOf('usr_1', { usage, model, dollars: Number.POSITIVE_INFINITY }));
  const { totals } = await money.ledger.report(everything);
  expect(totals).toMatchObject({ requests: 1, inputTokens: 0, outputTokens: 0, dollars: 0 });
});

test('what a dead process left is counted, but for a line that tore', async () => {
  await leaveJournal(3);
  const [name = ''] = await journalFiles();
  const path = join(folder(), name);
  await writeFile(path, `${await readFile(path, 'utf8')}[4,17637`);
  await using money = await start();
  const { totals } = await money.ledger.report(everything);
  expect(totals).toMatchObject({ requests: 3, dollars: 0.03 });
  expect(await journalFiles()).toHaveLength(1);
});

test('a journal that comes back after it was moved counts nothing twice', async () => {
  await leaveJournal(700);
  const copy = `${folder()}-copy`;
  await cp(folder(), copy, { recursive: true });
  {
    await using money = await start();
    await money.ledger.flush();
  }
  await cp(copy, folder(), { recursive: true });
  await using again = await start();
  const { totals } = await again.ledger.report(everything);
  expect(totals.requests).toBe(700);
});

test('a batch whose commit was not heard of is brought again and counts once', async () => {
  let failures = 0;
  const query: MoneySql['query'] = async <Row>(text: string, parameters?: readonly unknown[]) => {
    const rows = await database.query<Row>(text, parameters);
    if (text.includes('record_spends') && (failures += 1) === 1) throw new Error('lost');
    return rows;
  };
  await using money = await start({ query });
  void money.ledger.append(spendOf('usr_1'));
  await expect(money.ledger.flush()).rejects.toThrow('lost');
  void money.ledger.append(spendOf('usr_1'));
  expect((await money.ledger.report(everything)).totals.requests).toBe(2);
});

test('where the database counted further than was believed, only the rest counts', async () => {
  let isAway = false;
  const query: MoneySql['query'] = (text, parameters) =>
    isAway ? away.query(text, parameters) : database.query(text, parameters);
  await using money = await start({ query });
  for (let at = 0; at < 3; at += 1) void money.ledger.append(spendOf('usr_1'));
  await money.ledger.flush();
  isAway = true;
  await money.ledger.append(spendOf('usr_1'));
  await money.ledger.append(spendOf('usr_1'));
  const copy = await mkdtemp(join(tmpdir(), 'ennead-money-copy-'));
  for (const name of await journalFiles()) {
    await cp(join(folder(), name), join(copy, 'gateway', name));
  }
  {
    await using other = await startMoney({ sql: database, topic, dataFolder: copy });
    expect((await other.ledger.report(everything)).totals.requests).toBe(5);
  }
  await rm(copy, { recursive: true });
  void money.ledger.append(spendOf('usr_1', { dollars: 1 }));
  isAway = false;
  const { totals } = await money.ledger.report(everything);
  expect(totals).toMatchObject({ requests: 6, dollars: 1.05 });
});

test('a database that was set back counts what is new', async () => {
  await using money = await start();
  void money.ledger.append(spendOf('usr_1'));
  await money.ledger.flush();
  await database.query('truncate gateway.spend_days, gateway.spend_runs');
  void money.ledger.append(spendOf('usr_1'));
  expect((await money.ledger.report(everything)).totals.requests).toBe(1);
});

test('what a later version wrote is neither counted nor removed, and holds nothing up', async () => {
  await leaveJournal(1);
  const [name = ''] = await journalFiles();
  const path = join(folder(), name);
  await writeFile(path, (await readFile(path, 'utf8')).replace(',1,', ',2,'));
  await using money = await start();
  void money.ledger.append(spendOf('usr_1'));
  const { totals } = await money.ledger.report(everything);
  expect(totals.requests).toBe(1);
  expect((await readFile(path, 'utf8')).length).toBeGreaterThan(50);
});

test('spends of one turn are all in the file when the first of them is said to be', async () => {
  await using money = await start();
  const [name = ''] = await journalFiles();
  const path = join(folder(), name);
  const [first] = Array.from({ length: 32 }, () => money.ledger.append(spendOf('usr_1')));
  expect(statSync(path).size).toBe(0);
  await first;
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  // With the head of the file.
  expect(lines).toHaveLength(33);
});

test('however many spends there are, what goes to the database is a row for each model', async () => {
  const rowCounts: number[] = [];
  const query: MoneySql['query'] = (text, parameters) => {
    const [days] = parameters?.filter((one) => Array.isArray(one)) ?? [];
    if (text.includes('record_spends') && Array.isArray(days)) rowCounts.push(days.length);
    return database.query(text, parameters);
  };
  await using money = await start({ query });
  for (let at = 0; at < 3_000; at += 1) {
    void money.ledger.append(spendOf('usr_1', { model: at % 2 === 0 ? 'a' : 'b' }));
  }
  expect((await money.ledger.report(everything)).totals.requests).toBe(3_000);
  expect(rowCounts).toEqual([2]);
});

test('two replicas on one folder keep apart, and one takes over when the other dies', async () => {
  await using money = await start();
  const bytesMax = 64 * 1024 * 1024;
  {
    await using journal = await Journal.open({ dataFolder, bytesMax, log: silentLog });
    void journal.append(spendOf('usr_other'));
    await money.ledger.sweep();
    expect((await money.ledger.report(everything)).totals.requests).toBe(0);
  }
  await money.ledger.sweep();
  expect((await money.ledger.report(everything)).totals.requests).toBe(1);
});

test('while the database is away answers go on, and all is counted when it is back', async () => {
  let isAway = false;
  const query: MoneySql['query'] = (text, parameters) =>
    isAway ? away.query(text, parameters) : database.query(text, parameters);
  await using money = await start({ query });
  isAway = true;
  // More than stays in memory.
  const long = spendOf('usr_1', { model: 'm'.repeat(256), provider: 'p'.repeat(256) });
  for (let at = 0; at < 9_000; at += 1) void money.ledger.append(long);
  await expect(money.ledger.report(everything)).rejects.toThrow('away');
  expect(money.ledger.journal.bytes).toBeGreaterThan(5 * 1024 * 1024);
  isAway = false;
  const { totals } = await money.ledger.report(everything);
  expect(totals).toMatchObject({ requests: 9_000, dollars: 90 });
  expect(money.ledger.journal).toEqual({ bytes: 0, lost: 0 });
});

test('the journal is bounded, and says how many spends it could not take', async () => {
  let isAway = false;
  const query: MoneySql['query'] = (text, parameters) =>
    isAway ? away.query(text, parameters) : database.query(text, parameters);
  await using money = await start({ query }, { GATEWAY_SPEND_JOURNAL_MB: '1' });
  isAway = true;
  for (let at = 0; at < 20_000; at += 1) void money.ledger.append(spendOf('usr_1'));
  const { bytes, lost } = money.ledger.journal;
  expect(bytes).toBeLessThan(1024 * 1024 + 1024);
  expect(lost).toBeGreaterThan(0);
  isAway = false;
  expect((await money.ledger.report(everything)).totals.requests).toBe(20_000 - lost);
});

test('the journal is private and empty when all was moved, and gone after a proper end', async () => {
  {
    await using money = await start();
    await money.ledger.append(spendOf('usr_1'));
    const [name = ''] = await journalFiles();
    // It may be moved already: that it is written first is shown where the database is away.
    expect((await stat(join(folder(), name))).mode & 0o777).toBe(0o600);
    await money.ledger.flush();
    expect((await stat(join(folder(), name))).size).toBe(0);
  }
  expect(await readdir(folder())).toEqual([]);
});
