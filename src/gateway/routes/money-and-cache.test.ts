import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cancellation } from '../../kit/cancellation.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import { readConfig } from '../../kit/config.ts';
import type { Contract } from '../../kit/contract.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, silentLog } from '../../kit/testing.ts';
import { cacheSettings } from '../cache/cache-settings.ts';
import { Cache } from '../cache/cache.ts';
import { openGatewayDatabase } from '../cache/testing.ts';
import { gatewayEnvelope } from '../envelope.ts';
import type { Money } from '../money/money.ts';
import { spendOf, startMoney } from '../money/testing.ts';
import { budgetRoutes as budgetTable } from '../schemas/budgets.ts';
import { cacheRoutes as cacheTable } from '../schemas/cache.ts';
import { spendRoutes as spendTable } from '../schemas/spend.ts';
import { budgetHandlers } from './budgets.ts';
import { cacheHandlers } from './cache.ts';
import { spendHandlers } from './spend.ts';

const contract = {
  name: 'gateway',
  title: 'Gateway',
  version: '1.0.0',
  description: 'Money and cache.',
  error: gatewayEnvelope.schema,
  routes: { ...budgetTable, ...cacheTable, ...spendTable },
} as const satisfies Contract;

const lifetime = new Lifetime(silentLog);
const tokens = { me: '', other: '', operator: '' };
let server: Awaited<ReturnType<typeof createTestServer>>;
let money: Money;
let cache: Cache;

beforeAll(async () => {
  const sql = lifetime.own('the database', await openGatewayDatabase());
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-routes-'));
  lifetime.defer('the folder', () => rm(dataFolder, { recursive: true }));
  money = lifetime.own(
    'money',
    await startMoney({ sql, topic: bus.topic('gateway.budgets'), dataFolder }),
  );
  const config = readConfig({ own: cacheSettings }, {}).own;
  const topic = bus.topic<object>('gateway.cache');
  cache = lifetime.own('the cache', await Cache.open({ sql, topic, config, log: silentLog }));
  server = await createTestServer(contract, { envelope: gatewayEnvelope });
  lifetime.defer('http', () => server.http.close(0));
  server.http.serve(contract, {
    ...budgetHandlers({ budgets: money.budgets, log: silentLog }),
    ...cacheHandlers({ cache }),
    ...spendHandlers({ ledger: money.ledger }),
  });
  tokens.me = await server.issuer.sign({ sub: 'usr_me' });
  tokens.other = await server.issuer.sign({ sub: 'usr_other' });
  tokens.operator = await server.issuer.sign({
    sub: 'usr_operator',
    permissions: ['gateway:configure'],
  });
});

afterAll(() => lifetime[Symbol.asyncDispose]());

type Method = 'GET' | 'PUT' | 'DELETE';

async function call(who: keyof typeof tokens, method: Method, url: string, payload?: object) {
  const headers = { authorization: `Bearer ${tokens[who]}` };
  const answer = await server.http.app.inject({
    method,
    url: `/api/v1/${url}`,
    headers,
    ...(payload ? { payload } : {}),
  });
  return { status: answer.statusCode, body: answer.json() };
}

const limits = [{ unit: 'requests', amount: 5, period: 'day' }];

test.each<[keyof typeof tokens, Method, string, number]>([
  ['me', 'PUT', 'budgets/usr_me', 403],
  ['me', 'DELETE', 'budgets/usr_me', 403],
  ['me', 'GET', 'budgets', 403],
  ['me', 'GET', 'budgets/usr_other', 403],
  ['me', 'GET', 'budgets/me', 404],
  ['operator', 'GET', 'budgets/usr_nobody', 404],
  ['operator', 'DELETE', 'budgets/usr_nobody', 404],
  ['me', 'GET', 'spend?subject=usr_other', 403],
  ['me', 'GET', 'spend?groupBy=colour', 400],
  ['me', 'GET', 'spend?from=yesterday', 400],
  ['me', 'GET', 'spend?from=2026-02-02&to=2026-02-01', 400],
  ['me', 'GET', 'cache', 403],
  ['me', 'DELETE', 'cache/nothex', 400],
  ['me', 'DELETE', 'cache?name=a', 400],
  ['me', 'DELETE', `cache/${'a'.repeat(32)}`, 404],
])('%s is refused %s %s with %i', async (who, method, url, status) => {
  const payload = method === 'PUT' ? { limits } : undefined;
  expect((await call(who, method, url, payload)).status).toBe(status);
});

test.each([
  { limits: [] },
  { limits: [{ unit: 'euros', amount: 1, period: 'day' }] },
  { limits: [{ unit: 'tokens', amount: -1, period: 'day' }] },
  { limits: [{ unit: 'tokens', amount: 1, period: 'week' }] },
  { limits: [...limits, ...limits] },
  { limits: [{ unit: 'tokens', amount: 1.5, period: 'day' }] },
])('a budget of %j is refused', async (payload) => {
  expect((await call('operator', 'PUT', 'budgets/usr_me', payload)).status).toBe(400);
});

test('an operator sets a budget, and its subject reads what is left', async () => {
  expect((await call('operator', 'PUT', 'budgets/usr_me', { limits })).status).toBe(201);
  const put = await call('operator', 'PUT', 'budgets/usr_me', { limits });
  expect(put.status).toBe(200);
  const reservation = await money.purse.reserve(
    { subject: 'usr_me', name: undefined },
    { tokens: 1, dollars: 1 },
  );
  void reservation.settle(spendOf('usr_me'));
  const own = await call('me', 'GET', 'budgets/me');
  expect(own.body).toMatchObject({
    subject: 'usr_me',
    limits: [{ ...limits[0], used: 1, reserved: 0, resetsAt: expect.stringMatching(/T00:00:00/) }],
  });
  expect((await call('me', 'GET', 'budgets/usr_me')).body).toEqual(own.body);
  const list = await call('operator', 'GET', 'budgets?limit=1');
  expect(list.body).toEqual({ budgets: [own.body], total: 1, limit: 1, offset: 0 });
  expect((await call('operator', 'DELETE', 'budgets/usr_me')).body).toEqual({
    subject: 'usr_me',
    deleted: true,
  });
  expect((await call('me', 'GET', 'budgets/me')).status).toBe(404);
});

test('an operator who sets a budget for `me` means themselves', async () => {
  const put = await call('operator', 'PUT', 'budgets/me', { limits });
  expect(put.body.subject).toBe('usr_operator');
  expect((await call('operator', 'DELETE', 'budgets/me')).body.subject).toBe('usr_operator');
});

test('anybody sees their own spend, an operator that of all or of one', async () => {
  for (const subject of ['usr_me2', 'usr_other', 'usr_other'])
    void money.ledger.append(spendOf(subject));
  const own = await call('other', 'GET', 'spend?groupBy=model');
  expect(own.body).toMatchObject({
    spend: [{ group: 'gpt', requests: 2, dollars: 0.02 }],
    totals: { requests: 2 },
    groupBy: 'model',
    total: 1,
    limit: 20,
    offset: 0,
  });
  const all = await call('operator', 'GET', 'spend?groupBy=key');
  expect(all.body.spend).toContainEqual(
    expect.objectContaining({ group: 'usr_other', name: 'name of usr_other', requests: 2 }),
  );
  expect(all.body.total).toBeGreaterThan(1);
  const one = await call('operator', 'GET', 'spend?subject=usr_me2');
  expect(one.body.totals).toMatchObject({ requests: 1 });
});

test('a cached answer is dropped by its key, by its owner or an operator only', async () => {
  const keys: string[] = [];
  for (const key of ['a', 'b', 'c']) {
    const lookup = await cache.lookup({
      tenant: 'usr_me',
      face: 'openai',
      body: { model: 'm' },
      temperature: 0,
      wish: { key },
      cancellation: new Cancellation(),
    });
    if (lookup.state !== 'miss') throw new Error('expected a miss');
    const body = Buffer.from('{}');
    const source = { provider: 'p', model: 'm', source: 's' };
    lookup.fill.store({ body, ...source, inputTokens: 1, outputTokens: 1 });
    keys.push(lookup.key);
  }
  await cache.flush();
  const state = await call('operator', 'GET', 'cache');
  expect(state.body).toMatchObject({
    misses: 3,
    memory: { entries: 3, maxBytes: 64 * 1024 * 1024 },
    database: { entries: 3 },
  });
  expect((await call('other', 'DELETE', `cache/${keys[0]}`)).status).toBe(404);
  expect((await call('other', 'DELETE', 'cache')).body).toEqual({ evicted: 0 });
  const evicted = await call('me', 'DELETE', `cache/${keys[0]}`);
  expect(evicted.body).toEqual({ key: keys[0], evicted: true });
  expect((await call('operator', 'DELETE', `cache/${keys[1]}`)).status).toBe(200);
  expect((await call('me', 'DELETE', 'cache?namespace=a')).body).toEqual({ evicted: 0 });
  expect((await call('me', 'DELETE', 'cache')).body).toEqual({ evicted: 1 });
});
