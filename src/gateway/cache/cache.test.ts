import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import type { Bus, Topic } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import { readConfig, type Environment } from '../../kit/config.ts';
import type { Database } from '../../kit/database/database.ts';
import { silentLog } from '../../kit/testing.ts';
import type { CachedAnswer, CacheQuestion, Lookup } from './answer-cache.ts';
import type { Eviction } from './cache-entry.ts';
import { cacheSettings } from './cache-settings.ts';
import type { CacheSql } from './cache-store.ts';
import { Cache } from './cache.ts';
import type { Embed } from './semantic-cache.ts';
import { openGatewayDatabase } from './testing.ts';

let database: Database;
let bus: Bus;
let topic: Topic<Eviction>;

beforeAll(async () => {
  database = await openGatewayDatabase();
  bus = await openBus({ log: silentLog });
  topic = bus.topic('gateway.cache');
});

afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

interface Options {
  readonly environment?: Environment;
  readonly sql?: CacheSql;
  readonly embed?: Embed;
  readonly isCurrent?: (answer: CachedAnswer) => boolean;
}

function openCache({ environment = {}, sql = database, ...rest }: Options = {}): Promise<Cache> {
  const config = readConfig({ own: cacheSettings }, environment).own;
  return Cache.open({ sql, topic, config, log: silentLog, ...rest });
}

const never = new Cancellation();
let tenants = 0;

/** A question of a tenant that no other test uses. */
function question(over: Partial<CacheQuestion> = {}): CacheQuestion {
  return {
    tenant: `usr_${(tenants += 1)}`,
    face: 'openai',
    body: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
    temperature: 0,
    wish: {},
    cancellation: never,
    ...over,
  };
}

function answer(text: string): CachedAnswer {
  return {
    body: Buffer.from(JSON.stringify({ text })),
    provider: 'p',
    model: 'm',
    source: 's',
    inputTokens: 3,
    outputTokens: 5,
  };
}

function missed(lookup: Lookup) {
  if (lookup.state !== 'miss') throw new Error(`expected a miss, not ${lookup.state}`);
  return lookup;
}

function hit(lookup: Lookup) {
  if (lookup.state !== 'hit') throw new Error(`expected a hit, not ${lookup.state}`);
  return { ...lookup, text: lookup.answer.body.toString() };
}

async function fill(cache: Cache, asked: CacheQuestion, text = 'one'): Promise<string> {
  const lookup = missed(await cache.lookup(asked));
  lookup.fill.store(answer(text));
  return lookup.key;
}

const off: [string, Partial<CacheQuestion>][] = [
  ['a temperature above 0', { temperature: 0.5 }],
  ['no temperature', { temperature: undefined }],
  ['`enabled: false`', { wish: { enabled: false } }],
  ['a `ttl` of 0', { wish: { ttl: 0 } }],
  ['a thread that is begun', { body: { thread: { type: 'create' } }, wish: { enabled: true } }],
  ['a thread that goes on', { body: { thread: { type: 'continue', id: 't' } } }],
  ['a container', { body: { container: 'c' } }],
];

test.each(off)('%s keeps the cache out of it', async (_title, over) => {
  await using cache = await openCache();
  expect(cache.lookup(question(over))).toEqual({ state: 'off' });
  expect(cache.stats()).toEqual({ hitRate: 0, size: '0.0 MB', entries: 0 });
});

test.each([
  ['a negative ttl', { ttl: -1 }, 'cache.ttl'],
  ['a broken ttl', { ttl: 1.5 }, 'cache.ttl'],
  ['a ttl of more than 30 days', { ttl: 30 * 86_400 + 1 }, 'cache.ttl'],
  ['a key that is too long', { key: 'k'.repeat(257) }, 'cache.key'],
])('%s is refused by name', async (_title, wish, param) => {
  await using cache = await openCache();
  expect(() => cache.lookup(question({ wish }))).toThrow(
    expect.objectContaining({ code: 'invalid', reason: 'invalid_value', detail: { param } }),
  );
});

test('another tenant, and another namespace, never get an answer', async () => {
  await using cache = await openCache();
  const asked = question();
  await fill(cache, asked);
  const others = [
    question(),
    { ...asked, wish: { key: 'other' } },
    { ...asked, face: 'anthropic' },
  ];
  for (const other of others) missed(await cache.lookup(other)).fill.abandon();
  expect(hit(await cache.lookup(asked))).toMatchObject({ text: '{"text":"one"}', ageSeconds: 0 });
});

test('a hit in memory is there at once, without a statement', async () => {
  const statements: string[] = [];
  const query: CacheSql['query'] = (text, parameters) => {
    statements.push(text);
    return database.query(text, parameters);
  };
  await using cache = await openCache({ sql: { query } });
  const asked = question();
  await fill(cache, asked);
  await cache.flush();
  statements.length = 0;
  const lookup = cache.lookup(asked);
  expect(lookup).not.toBeInstanceOf(Promise);
  expect(statements).toEqual([]);
  expect(hit(await lookup).key).toMatch(/^[0-9a-f]{32}$/);
});

test('an answer is shared with another replica and outlives a restart', async () => {
  const asked = question({ wish: { key: 'mine' } });
  {
    await using cache = await openCache();
    await fill(cache, asked);
  }
  await using replica = await openCache();
  const found = hit(await replica.lookup(asked));
  expect(found).toMatchObject({
    text: '{"text":"one"}',
    answer: { provider: 'p', inputTokens: 3 },
  });
  expect(replica.lookup(asked)).not.toBeInstanceOf(Promise);
});

test('an answer is not given after its time, nor to who wants a younger one', async () => {
  await using cache = await openCache();
  const asked = question({ wish: { ttl: 1 } });
  await fill(cache, asked);
  await cache.flush();
  await database.query(
    `update gateway.cache set created_at = created_at - interval '100 s',
     expires_at = expires_at + interval '100 s' where tenant = $1`,
    [asked.tenant],
  );
  await using replica = await openCache();
  missed(await replica.lookup({ ...asked, wish: { ttl: 100 } })).fill.abandon();
  expect(hit(await replica.lookup({ ...asked, wish: {} })).ageSeconds).toBeGreaterThanOrEqual(100);
  await database.query(`update gateway.cache set expires_at = now() where tenant = $1`, [
    asked.tenant,
  ]);
  await using late = await openCache();
  missed(await late.lookup({ ...asked, wish: {} })).fill.abandon();
});

test('an answer is not given once its provider would not give it, in memory and from the database', async () => {
  let source = 's';
  const isCurrent = (given: CachedAnswer) => given.source === source;
  await using cache = await openCache({ isCurrent });
  const asked = question();
  await fill(cache, asked, 'from here');
  await cache.flush();
  expect(hit(await cache.lookup(asked)).text).toContain('from here');
  source = 'elsewhere';
  missed(await cache.lookup(asked)).fill.decline();
  await using other = await openCache({ isCurrent });
  missed(await other.lookup(asked)).fill.decline();
  source = 's';
  expect(hit(await other.lookup(asked)).text).toContain('from here');
});

test('a request without a thread is kept though it says so', async () => {
  await using cache = await openCache();
  const asked = question({ body: { model: 'm', thread: false } });
  await fill(cache, asked);
  hit(await cache.lookup(asked));
});

test('those who ask for the same wait for the first, and get its answer', async () => {
  await using cache = await openCache();
  const asked = question();
  const first = missed(await cache.lookup(asked));
  const others = [1, 2, 3].map(async () => cache.lookup({ ...asked, body: { ...asked.body } }));
  first.fill.store(answer('one'));
  first.fill.abandon();
  for (const other of await Promise.all(others)) expect(hit(other).text).toBe('{"text":"one"}');
  expect(cache.stats().hitRate).toBe(0.75);
});

test('when the first fails, one of those who wait asks, and not all', async () => {
  await using cache = await openCache();
  const asked = question();
  const first = missed(await cache.lookup(asked));
  const waiting = [1, 2, 3].map(async () => cache.lookup(asked));
  first.fill.abandon();
  const second = missed(await Promise.race(waiting));
  second.fill.store(answer('two'));
  const states = (await Promise.all(waiting)).map(({ state }) => state);
  expect(states.toSorted()).toEqual(['hit', 'hit', 'miss']);
});

test('when the first brings nothing to share, all who wait ask at once', async () => {
  await using cache = await openCache();
  const asked = question();
  const first = missed(await cache.lookup(asked));
  const waiting = [1, 2, 3].map(async () => cache.lookup(asked));
  first.fill.decline();
  const fills = (await Promise.all(waiting)).map((lookup) => missed(lookup).fill);
  // Those who come meanwhile wait for one of their own.
  const next = missed(await cache.lookup(asked));
  const last = cache.lookup(asked);
  for (const one of fills) one.store(answer('theirs'));
  next.fill.store(answer('next'));
  expect(hit(await last).text).toBe('{"text":"next"}');
});

test('who gives up while waiting is told so, and is not asked to ask', async () => {
  await using cache = await openCache();
  const asked = question();
  const first = missed(await cache.lookup(asked));
  const gone = new Cancellation();
  const quitter = cache.lookup({ ...asked, cancellation: gone });
  const patient = cache.lookup(asked);
  gone.cancel(new Fault('cancelled', 'the caller gave up'));
  await expect(quitter).rejects.toMatchObject({ code: 'cancelled' });
  first.fill.abandon();
  missed(await patient).fill.abandon();
  missed(await cache.lookup(asked)).fill.abandon();
});

test('who gives up while the database is read leaves the turn to the next', async () => {
  await using cache = await openCache();
  const asked = question();
  const gone = new Cancellation();
  const first = cache.lookup({ ...asked, cancellation: gone });
  const second = cache.lookup(asked);
  gone.cancel(new Fault('cancelled', 'the caller gave up'));
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  missed(await second).fill.abandon();
});

test('an answer above 1 MiB goes to those who wait, and is not kept', async () => {
  await using cache = await openCache();
  const asked = question();
  const first = missed(await cache.lookup(asked));
  const waiting = cache.lookup(asked);
  first.fill.store(answer('x'.repeat(1024 * 1024)));
  expect(hit(await waiting).text.length).toBeGreaterThan(1024 * 1024);
  missed(await cache.lookup(asked)).fill.abandon();
});

test('memory is bounded in bytes', async () => {
  await using cache = await openCache({
    environment: { GATEWAY_CACHE_MEMORY_MB: '1', GATEWAY_CACHE_DATABASE_MB: '0' },
  });
  for (let at = 0; at < 40; at += 1) await fill(cache, question(), 'x'.repeat(50_000));
  const { memory } = await cache.measure();
  expect(memory.bytes).toBeLessThanOrEqual(1024 * 1024);
  expect(memory.entries).toBeGreaterThan(10);
});

test('the database is bounded in bytes: what was used longest ago goes first', async () => {
  await database.query('delete from gateway.cache');
  await using cache = await openCache({ environment: { GATEWAY_CACHE_DATABASE_MB: '1' } });
  const asked = [1, 2, 3, 4].map(() => question());
  for (const one of asked) {
    await fill(cache, one, 'x'.repeat(300_000));
    await cache.flush();
  }
  const rows = await database.query<{ tenant: string }>(
    'select tenant from gateway.cache order by used_at',
  );
  expect(rows.map(({ tenant }) => tenant)).toEqual(asked.slice(1).map(({ tenant }) => tenant));
});

test('what has expired leaves the database', async () => {
  await using cache = await openCache();
  const asked = question();
  await fill(cache, asked);
  await cache.flush();
  await database.query('update gateway.cache set expires_at = now()');
  await cache.sweep();
  expect(await database.query('select 1 from gateway.cache')).toEqual([]);
});

test('without the database the cache goes on in memory', async () => {
  let statements = 0;
  const query = () => {
    statements += 1;
    return Promise.reject(new Error('away'));
  };
  await using cache = await openCache({ sql: { query } });
  const asked = question();
  await fill(cache, asked);
  expect(hit(await cache.lookup(asked)).text).toBe('{"text":"one"}');
  await fill(cache, question());
  expect(statements).toBe(1);
});

test('an evicted answer is gone everywhere, and nobody evicts what is not theirs', async () => {
  await using cache = await openCache();
  await using replica = await openCache();
  const asked = question();
  const key = await fill(cache, asked);
  await cache.flush();
  hit(await replica.lookup(asked));
  expect(await replica.evict({ key, tenant: 'usr_other' })).toBe(0);
  hit(await cache.lookup(asked));
  expect(await replica.evict({ key, tenant: asked.tenant })).toBe(1);
  missed(await cache.lookup(asked)).fill.abandon();
  missed(await replica.lookup(asked)).fill.abandon();
});

test('an evicted answer is not written again by a replica that had not yet written its own', async () => {
  const asked = question();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const query: CacheSql['query'] = async (text, parameters) => {
    if (text.startsWith('insert')) await held;
    return database.query(text, parameters);
  };
  await using cache = await openCache();
  await using waiting = await openCache();
  await using writing = await openCache({ sql: { query } });
  for (const replica of [waiting, writing]) await fill(replica, asked);
  const written = writing.flush();
  await cache.evict({ tenant: asked.tenant });
  release();
  await Promise.all([written, waiting.flush()]);
  const stored = 'select key from gateway.cache where tenant = $1';
  await expect.poll(() => database.query(stored, [asked.tenant])).toEqual([]);
});

test('clearing takes one namespace or all of a tenant, also what is yet to be written', async () => {
  await using cache = await openCache();
  const plain = question();
  const named = { ...plain, wish: { key: 'n' } };
  const foreign = question();
  for (const one of [plain, named, foreign]) await fill(cache, one);
  expect(await cache.evict({ tenant: plain.tenant, namespace: 'n' })).toBe(1);
  missed(await cache.lookup(named)).fill.store(answer('again'));
  hit(await cache.lookup(plain));
  expect(await cache.evict({ tenant: plain.tenant })).toBe(2);
  missed(await cache.lookup(plain)).fill.abandon();
  hit(await cache.lookup(foreign));
});

test('an evicted answer does not come back from a read that was under way', async () => {
  const asked = question();
  {
    await using cache = await openCache();
    await fill(cache, asked);
  }
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const query: CacheSql['query'] = async <Row>(text: string, parameters?: readonly unknown[]) => {
    const rows = await database.query<Row>(text, parameters);
    if (text.startsWith('select tenant')) await held;
    return rows;
  };
  await using cache = await openCache({ sql: { query } });
  const reading = cache.lookup(asked);
  await cache.evict({ tenant: asked.tenant });
  release();
  await reading;
  missed(await cache.lookup(asked)).fill.abandon();
});

const environment = { GATEWAY_SEMANTIC_CACHE_THRESHOLD: '0.97' };
const ask = (tenant: string, content: string, over: object = {}): CacheQuestion =>
  question({
    tenant,
    temperature: 1,
    wish: { enabled: true },
    body: { model: 'm', messages: [{ role: 'user', content }], ...over },
  });

test('the same question in other words is answered, marked with how alike it is', async () => {
  const embed = () => Promise.resolve(new Float32Array([1, 2]));
  await using cache = await openCache({ environment, embed });
  expect(cache.stats().semanticThreshold).toBe(0.97);
  const key = await fill(cache, ask('usr_s', 'What is the capital of France?'));
  const found = hit(await cache.lookup(ask('usr_s', 'Please tell me the capital of France.')));
  expect(found).toMatchObject({ key, text: '{"text":"one"}', similarity: 1 });
  await cache.evict({ key, tenant: 'usr_s' });
  missed(await cache.lookup(ask('usr_s', 'The capital of France is what?'))).fill.abandon();
});

const unlike: [string, CacheQuestion][] = [
  ['another name', ask('usr_u', 'What is the capital of Spain?')],
  ['another tenant', ask('usr_v', 'Tell me the capital of France.')],
  ['another system prompt or parameter', ask('usr_u', 'The capital of France?', { top_p: 1 })],
  [
    'a request that did not ask for the cache',
    { ...ask('usr_u', 'The capital of France?'), wish: {}, temperature: 0 },
  ],
];

test.each(unlike)('however alike, %s gets no answer of another question', async (_title, other) => {
  const embed = () => Promise.resolve(new Float32Array([1, 2]));
  await using cache = await openCache({ environment, embed });
  await cache.evict({ tenant: 'usr_u' });
  await fill(cache, ask('usr_u', 'What is the capital of France?'));
  missed(await cache.lookup(other)).fill.abandon();
  hit(await cache.lookup(ask('usr_u', 'Tell me: the capital of France?')));
});

test('below the threshold, or without a vector, nothing is shared', async () => {
  const vectors = [new Float32Array([1, 0]), new Float32Array([0.9, 0.5])];
  const embed = () => Promise.resolve(vectors.shift() ?? Promise.reject(new Error('no model')));
  await using cache = await openCache({ environment, embed });
  await fill(cache, ask('usr_t', 'How do I bake bread?'));
  missed(await cache.lookup(ask('usr_t', 'How is bread baked?'))).fill.abandon();
  missed(await cache.lookup(ask('usr_t', 'Baking bread, how?'))).fill.abandon();
});

test('the same words in another order, or with another sign, are another question', async () => {
  const embed = () => Promise.resolve(new Float32Array([1, 2]));
  await using cache = await openCache({ environment, embed });
  await fill(cache, ask('usr_o', 'flights from paris to rome'));
  await fill(cache, ask('usr_o', 'compute a+b'));
  for (const other of ['flights from rome to paris', 'compute a-b']) {
    missed(await cache.lookup(ask('usr_o', other))).fill.abandon();
  }
  hit(await cache.lookup(ask('usr_o', 'please: flights from paris to rome')));
});
