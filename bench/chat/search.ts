import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { StoredConversations } from '../../src/chat/conversations/stored-conversations.ts';
import { openSearch } from '../../src/chat/search/search-parts.ts';
import type { Search } from '../../src/chat/search/search.ts';
import { cacheMegabytesFor } from '../../src/ground.ts';
import { openBus } from '../../src/kit/bus/open-bus.ts';
import { openDatabase, type Database } from '../../src/kit/database/database.ts';
import { Lifetime } from '../../src/kit/lifecycle.ts';
import { availableMemoryBytes } from '../../src/kit/memory.ts';
import { silentLog } from '../../src/kit/testing.ts';
import { embedTexts } from '../../src/kit/vectors/embed-texts.ts';
import { startModels } from '../../src/models/testing.ts';
import type { Depth } from '../harness/depth.ts';
import { atMost, type Figure, type Row } from '../harness/figure.ts';

const owner = 'usr_bench';
const messagesOfAll = 100_000;
const wordsOfMessage = 30;
const wordsOfQuery = 3;
const queriesOfRound = 60;
const hitsMax = 10;

/** One owner's messages, of windows of our own documentation: search beside a scan of their vectors. */
export async function measureSearch(depth: Depth): Promise<Figure[]> {
  await using lifetime = new Lifetime(silentLog);
  const count = Math.round(messagesOfAll / depth.shortening);
  // As much as the suite gives it on this machine.
  const cacheMegabytes = cacheMegabytesFor(availableMemoryBytes());
  const database = lifetime.own('database', await openDatabase({ cacheMegabytes }));
  await database.migrate('chat', new URL('../../src/chat/migrations/', import.meta.url));
  const pick = createPicker();
  await fill(database, count, pick);
  const models = lifetime.own('models', await startModels());
  const bus = lifetime.own('bus', await openBus({ log: silentLog }));
  const options = { sql: database, bus, log: silentLog, stopTurn: async () => {} };
  const conversations = lifetime.own('conversations', new StoredConversations(options));
  const { client } = models;
  const parts = { database, bus, conversations, models: client, log: silentLog };
  const search = lifetime.own('search', openSearch(parts));
  const startMs = performance.now();
  await untilIndexed(database, count);
  const indexedPerSecond = (count * 1_000) / (performance.now() - startMs);
  await database.query('vacuum (analyze) chat.messages');
  const scan = await createScan(database, count);
  const embed = async (text: string) =>
    (await embedTexts(client, { texts: [text] })).vectors[0] ?? new Float32Array();
  await warmUp(search);
  // Awaited here: all ends when this returns.
  return await measureContest({ depth, pick, search, scan, embed, count, indexedPerSecond });
}

interface Contest {
  readonly depth: Depth;
  readonly pick: (words: number) => string;
  readonly search: Search;
  readonly scan: (vector: Float32Array) => readonly number[];
  readonly embed: (text: string) => Promise<Float32Array>;
  readonly count: number;
  readonly indexedPerSecond: number;
}

async function measureContest(contest: Contest): Promise<Figure[]> {
  const { depth, pick, search, scan, embed, count, indexedPerSecond } = contest;
  const samples = { ours50: [], ours95: [], scan50: [], scan95: [], delay: [] } as Record<
    'ours50' | 'ours95' | 'scan50' | 'scan95' | 'delay',
    number[]
  >;
  for (let round = -depth.warmUps; round < depth.rounds; round += 1) {
    const queries = Array.from({ length: queriesOfRound }, () => pick(wordsOfQuery));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const ours = await timeEach(queries, (query) => search.find(owner, { query, limit: hitsMax }));
    delay.disable();
    const bare = await timeEach(queries, async (query) => scan(await embed(query)));
    if (round < 0) continue;
    samples.ours50.push(quantile(ours, 0.5));
    samples.ours95.push(quantile(ours, 0.95));
    samples.scan50.push(quantile(bare, 0.5));
    samples.scan95.push(quantile(bare, 0.95));
    samples.delay.push(delay.percentile(99) / 1e6);
  }
  const limit = 'embed and scan in memory, vectors alone';
  const row = (role: Row['role'], name: string, values: readonly number[]): Row => ({
    role,
    name,
    unit: 'ms',
    samples: values,
  });
  return [
    {
      title: `search in ${count} messages of one owner on PGlite, p50`,
      rows: [row('limit', limit, samples.scan50), row('ours', 'words and meaning', samples.ours50)],
    },
    {
      title: 'the same, p95',
      rows: [
        row('limit', limit, samples.scan95),
        { ...row('ours', 'words and meaning', samples.ours95), goal: atMost(50, 'ms') },
      ],
      note: `${Math.round(indexedPerSecond)} messages a second were embedded and stored`,
    },
    {
      title: 'delay of the event loop while it searches, p99',
      rows: [row('ours', 'one search after the other', samples.delay)],
    },
  ];
}

async function timeEach(
  queries: readonly string[],
  run: (query: string) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  for (const query of queries) {
    const startMs = performance.now();
    await run(query);
    times.push(performance.now() - startMs);
  }
  return times;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? NaN;
}

/** Until the owner's vectors are in memory. */
async function warmUp(search: Search): Promise<void> {
  for (let at = 0; at < 20; at += 1) await search.find(owner, { query: `warm up ${at}` });
}

/** Stretches of our documentation, from places that are the same in every run. */
function createPicker(): (words: number) => string {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const text = pages.map((name) => readFileSync(`docs/${name}`, 'utf8')).join(' ');
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  let state = 7;
  return (count) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    const at = Math.floor((state / 4_294_967_296) * (words.length - count));
    return words.slice(at, at + count).join(' ');
  };
}

async function fill(database: Database, count: number, pick: (words: number) => string) {
  await database.query(
    `insert into chat.conversations (id, owner_id, title, created_at, updated_at)
     values ('cnv_bench', $1, 'Bench', now(), now())`,
    [owner],
  );
  for (let from = 0; from < count; from += 1_000) {
    const places = Array.from({ length: Math.min(1_000, count - from) }, (_, at) => from + at + 1);
    await database.query(
      `insert into chat.messages
         (conversation_id, place, id, owner_id, role, content, status, created_at, words)
       select 'cnv_bench', place, 'msg_' || lpad(place::text, 32, '0'), $1, 'user', content,
         'complete', now() - interval '1 day' + place * interval '1 second', chat.all_words_of(content)
       from unnest($2::integer[], $3::text[]) as m (place, content)`,
      [owner, places, places.map((place) => `${pick(wordsOfMessage)} ${place}`)],
    );
  }
}

async function untilIndexed(database: Database, count: number): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ indexed: number }>(
      'select count(*) as indexed from chat.message_vectors',
    );
    if ((row?.indexed ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** The same vectors as 32-bit floats, looked at one after the other. */
async function createScan(database: Database, count: number) {
  const [first] = await database.query<{ dimensions: number }>(
    'select dimensions from chat.search_embedders limit 1',
  );
  const dimensions = first?.dimensions ?? 0;
  const vectors = new Float32Array(count * dimensions);
  for (let from = 0; from < count; from += 5_000) {
    const rows = await database.query<{ vectors: Buffer }>(
      'select vectors from chat.message_vectors order by message_id limit 5000 offset $1',
      [from],
    );
    for (const [at, row] of rows.entries()) {
      const bytes = new Int8Array(row.vectors.buffer, row.vectors.byteOffset, dimensions);
      vectors.set(bytes, (from + at) * dimensions);
    }
  }
  return (vector: Float32Array) => bestRows(vectors, vector);
}

function bestRows(vectors: Float32Array, vector: Float32Array): number[] {
  const best: { row: number; score: number }[] = [];
  for (let row = 0, from = 0; from < vectors.length; row += 1, from += vector.length) {
    let score = 0;
    for (let at = 0; at < vector.length; at += 1) {
      score += (vectors[from + at] as number) * (vector[at] as number);
    }
    if (best.length === hitsMax && score <= (best[0]?.score ?? 0)) continue;
    if (best.length === hitsMax) best.shift();
    best.push({ row, score });
    best.sort((one, other) => one.score - other.score);
  }
  return best.map(({ row }) => row);
}
