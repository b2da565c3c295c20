import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openChatGround, type ChatGround } from '../testing.ts';
import type { SearchHit, SearchRequest } from './search.ts';
import { createHashModels, startSearch } from './testing.ts';

const hashed = createHashModels();
let ground: ChatGround;
let replica: Awaited<ReturnType<typeof startSearch>>;
let other: Awaited<ReturnType<typeof startSearch>>;

beforeAll(async () => {
  ground = await openChatGround();
  replica = await startSearch(ground, { models: hashed.client });
  other = await startSearch(ground, { models: hashed.client });
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const find = async (owner: string, request: SearchRequest | string, from = replica) =>
  from.search.find(owner, typeof request === 'string' ? { query: request } : request);
const texts = (hits: readonly SearchHit[]) => hits.map(({ content }) => content);

/** Waits until every message of an owner that is found has a vector. */
async function untilIndexed(owner: string, query: string, from = replica) {
  await vi.waitFor(
    async () => {
      const { hits } = await find(owner, query, from);
      expect(hits.length).toBeGreaterThan(0);
      expect(hits.map(({ embedder }) => embedder)).not.toContain('text');
    },
    { timeout: 5_000, interval: 50 },
  );
}

describe('a query that nobody would write', () => {
  beforeAll(() =>
    replica.say('usr_odd', ["it's an ordinary sentence about snow & ice", 'to be or not to be']),
  );

  test.each([
    '',
    '   ',
    '!!! ??? …',
    '"',
    "'; drop table chat.messages; --",
    'a:* & !b | (c <-> d)',
    '\\ \0 %% $ \u{d800}',
    '👍🏽',
    `${'"'.repeat(500)} -`,
    '-',
    '<script>alert(1)</script>',
  ])('%j finds nothing, and fails nowhere', async (query) => {
    const { hits, total } = await find('usr_odd', query);
    expect({ hits, total }).toEqual({ hits: [], total: 0 });
  });

  test('is answered when it has ten thousand bytes', async () => {
    const { hits } = await find('usr_odd', `${'ordinary snow '.repeat(750)} ordinarily`);
    expect(texts(hits)).toEqual(["it's an ordinary sentence about snow & ice"]);
  });

  test('finds what consists of the commonest words alone', async () => {
    const { hits } = await find('usr_odd', 'to be or not to be');
    expect(texts(hits)[0]).toBe('to be or not to be');
  });
});

describe('words', () => {
  beforeAll(() =>
    replica.say('usr_words', [
      'Die Straße nach München war GESPERRT.',
      'Привет, мир! Как дела?',
      '昨日、東京タワーに行きました。',
      'The Überweisung failed with error ENG-4711 in module v2.4.17.',
      'We discussed running costs of the <b>servers</b> & "cables".',
      'Completely unrelated.',
    ]),
  );

  test.each([
    ['"昨日、東京"', '昨日、東京タワーに行きました。'],
    ['straße gesperrt', 'Die Straße nach München war GESPERRT.'],
    ['МИР привет', 'Привет, мир! Как дела?'],
    ['東京', '昨日、東京タワーに行きました。'],
    ['タワー', '昨日、東京タワーに行きました。'],
    ['eng 4711', 'The Überweisung failed with error ENG-4711 in module v2.4.17.'],
    ['überweisung', 'The Überweisung failed with error ENG-4711 in module v2.4.17.'],
    ['2.4.17', 'The Überweisung failed with error ENG-4711 in module v2.4.17.'],
    ['run cost server', 'We discussed running costs of the <b>servers</b> & "cables".'],
  ])('%s are found in any script, case and inflection', async (query, text) => {
    const { hits } = await find('usr_words', query);
    expect(texts(hits)[0]).toBe(text);
  });

  test.each(['đặng', 'οδος', '"đặng quốc"', '"οδος ερμου"'])(
    '%s is found in upper case, alone or in a phrase',
    async (query) => {
      const text = 'ĐẶNG QUỐC came from Việt Nam, ΟΔΟΣ ΕΡΜΟΥ 12.';
      await replica.say(`usr_upper_${query}`, [text]);
      expect(texts((await find(`usr_upper_${query}`, query)).hits)).toEqual([text]);
    },
  );

  test('characters that do not stand side by side are not found', async () => {
    expect((await find('usr_words', '京東')).hits).toEqual([]);
  });

  test('are marked, and all else is escaped', async () => {
    const { hits } = await find('usr_words', 'run cost server');
    expect(hits[0]?.snippet).toBe(
      'We discussed <mark>running</mark> <mark>costs</mark> of the &lt;b&gt;<mark>servers</mark>&lt;/b&gt; &amp; &quot;cables&quot;.',
    );
  });

  test('between quotation marks must stand so, and behind a minus must not', async () => {
    expect((await find('usr_words', '"failed with error"')).hits).toHaveLength(1);
    expect((await find('usr_words', '"error with failed"')).hits).toEqual([]);
    expect((await find('usr_words', 'failed error -module')).hits).toEqual([]);
  });

  test('of a phrase behind a minus keep out what has the phrase, and nothing else', async () => {
    await replica.say('usr_minus', ['red green blue', 'red blue green', 'red blue']);
    const found = async (query: string) => texts((await find('usr_minus', query)).hits).toSorted();
    expect(await found('red -"GREEN blue"')).toEqual(['red blue', 'red blue green']);
    expect(await found('red "blue green" -"green blue"')).toEqual(['red blue green']);
    expect(await found('red -"green blue" -"blue green"')).toEqual(['red blue']);
    expect(await found('red x-"green blue"')).toEqual(['red green blue']);
    expect(await found('-"green blue"')).toEqual([]);
  });

  test('with a minus in front are a part of the phrase that they stand in', async () => {
    const owner = 'usr_command';
    const told = ['use git commit -m msg to save', 'rm -rf node_modules', 'it was -5 degrees'];
    await replica.say(owner, [...told, 'git commit them']);
    const [commit, remove, cold] = told;
    const found = async (query: string) => texts((await find(owner, query)).hits);
    expect(await found('"git commit -m"')).toEqual([commit]);
    expect(await found('"-rf node_modules"')).toEqual([remove]);
    expect(await found('"-5 degrees"')).toEqual([cold]);
    expect(await found('git -"commit -m"')).toEqual(['git commit them']);
    expect(await found('git "" -m -"" "commit"')).toEqual(['git commit them']);
  });

  test('of a script without spaces are kept out where they stand side by side', async () => {
    const owner = 'usr_minus_tokyo';
    await replica.say(owner, ['tower 東京タワー', 'tower 京東']);
    expect(texts((await find(owner, 'tower -東京')).hits)).toEqual(['tower 京東']);
  });

  test('are all looked at, however many and long', async () => {
    const owner = 'usr_conditions';
    const sentence = 'apple '.repeat(50).trim();
    await replica.say(owner, ['apple one zulu', 'apple two', sentence]);
    const found = async (query: string) => texts((await find(owner, query)).hits).toSorted();
    const minuses = Array.from({ length: 30 }, (_, at) => `-a${at}`).join(' ');
    expect(await found(`apple ${minuses} -zulu`)).toEqual([sentence, 'apple two']);
    expect(await found(`${'"apple" '.repeat(31)} "one"`)).toEqual(['apple one zulu']);
    expect(await found(`"${sentence}"`)).toEqual([sentence]);
    expect(await found(`apple -"${sentence}"`)).toEqual(['apple one zulu', 'apple two']);
    expect(await found(`"${sentence} pear"`)).toEqual([]);
  });

  test.each([
    ['33 phrases', '"apple" '.repeat(33)],
    ['33 exclusions', `apple ${'-pear '.repeat(33)}`],
    ['a phrase of 2,001 characters', `"${'a'.repeat(2_001)}"`],
    ['an exclusion of 2,001 characters', `apple -${'a'.repeat(2_001)}`],
  ])('in %s are refused, and not passed over', async (_, query) => {
    await expect(find('usr_conditions', query)).rejects.toMatchObject({
      code: 'invalid',
      message: 'a query may have 32 phrases and exclusions, of 2000 characters together',
    });
  });

  test.each([
    ['"🎉"', ['Great party 🎉🎂 last night']],
    ['"->"', ['f -> g', 'a -> b']],
    ['"->" -f', ['a -> b']],
    ['"->" -"-> g"', ['a -> b']],
    ['"??" "->"', []],
    ['🎉', []],
  ])('phrases of signs alone are found as they stand: %s', async (query, found) => {
    const owner = `usr_signs_${query}`;
    await replica.say(owner, ['a -> b', 'Great party 🎉🎂 last night', 'f -> g']);
    const { hits, total, isTotalExact } = await find(owner, query);
    expect(texts(hits).toSorted()).toEqual(found.toSorted());
    expect([total, isTotalExact]).toEqual([found.length, true]);
  });
});

describe('a long message', () => {
  test('is found by its last passage, and shown from there', async () => {
    const filler = Array.from({ length: 900 }, (_, at) => `filler${at % 70}`).join(' ');
    await replica.say('usr_long', [
      `${filler} the secret is a purple submarine ${filler}`,
      'short',
    ]);
    await untilIndexed('usr_long', 'purple submarine');
    const { hits } = await find('usr_long', 'purple submarine');
    expect(hits[0]?.content).toContain('purple submarine');
    expect(hits[0]?.content.length).toBeLessThan(2_500);
    expect(hits[0]?.snippet).toMatch(/^… .*<mark>purple<\/mark> <mark>submarine<\/mark>.* …$/);
  });
});

describe('owners', () => {
  test('never see what others wrote', async () => {
    await replica.say('usr_one', ['the combination of the safe is blue elephant']);
    await replica.say('usr_two', ['a blue elephant in the garden']);
    await untilIndexed('usr_two', 'blue elephant');
    expect(texts((await find('usr_two', 'blue elephant')).hits)).toEqual([
      'a blue elephant in the garden',
    ]);
    expect((await find('usr_three', 'blue elephant')).total).toBe(0);
  });
});

describe('a search', () => {
  test('keeps to a span of time, a least score and a number of hits', async () => {
    const sentences = Array.from({ length: 30 }, (_, at) => `lighthouse keeper number ${at}`);
    await replica.say('usr_many', sentences);
    await untilIndexed('usr_many', 'lighthouse');
    const { hits, total } = await find('usr_many', { query: 'lighthouse keeper', limit: 7 });
    expect([hits.length, total]).toEqual([7, 30]);
    const future = new Date(Date.now() + 60_000);
    expect((await find('usr_many', { query: 'lighthouse', from: future })).total).toBe(0);
    expect((await find('usr_many', { query: 'lighthouse', to: future })).total).toBe(30);
    expect(
      (await find('usr_many', { query: 'lighthouse', from: future, to: new Date() })).total,
    ).toBe(0);
    expect((await find('usr_many', { query: 'lighthouse storm', minScore: 0.9 })).total).toBe(0);
  });

  test('finds a hit again where its score is the least that is wanted', async () => {
    await replica.say('usr_least', [
      'one boat',
      'two boats in a bay',
      'the boat of three',
      'a ferry',
    ]);
    await untilIndexed('usr_least', 'boat');
    const { hits } = await find('usr_least', { query: 'boat in the bay', minScore: 0 });
    expect(hits).toHaveLength(4);
    for (const { messageId, score } of hits) {
      const again = await find('usr_least', { query: 'boat in the bay', minScore: score });
      expect(again.hits.map((hit) => hit.messageId)).toContain(messageId);
    }
  });

  test('says when it did not count all', async () => {
    const sentences = Array.from({ length: 400 }, () => 'seagull');
    await replica.say('usr_gulls', sentences);
    const found = await find('usr_gulls', { query: 'seagull' });
    expect(found.isTotalExact).toBe(false);
    expect(found.total).toBeGreaterThan(100);
    expect((await find('usr_gulls', 'albatross')).isTotalExact).toBe(true);
  });

  test('groups what it found by conversation, the best first', async () => {
    const cats = await replica.say('usr_pets', ['cats purr', 'cats sleep all day'], 'Cats');
    const both = await replica.say('usr_pets', ['dogs chase cats and cats purr loudly'], 'Both');
    await untilIndexed('usr_pets', 'cats purr');
    const found = await replica.search.findConversations('usr_pets', { query: 'cats purr' });
    expect(found.map(({ conversationId }) => conversationId)).toEqual([cats, both]);
    expect(found[0]).toMatchObject({ title: 'Cats', score: found[0]?.hits[0]?.score });
    expect(found[0]?.hits).toHaveLength(2);
  });
});

describe('a search whose caller has gone', () => {
  test('reads no texts', async () => {
    await replica.say('usr_gone_away', ['the heron waits']);
    const reason = new Error('hung up');
    const request = { query: 'heron', signal: AbortSignal.abort(reason) };
    await expect(find('usr_gone_away', request)).rejects.toBe(reason);
  });
});

describe('a new message', () => {
  test('is found by its words at once and has its vector soon, on every replica', async () => {
    await find('usr_new', 'warm up', other);
    await replica.say('usr_new', ['zebras graze on the savanna']);
    const { hits } = await find('usr_new', 'zebras', other);
    expect(texts(hits)).toEqual(['zebras graze on the savanna']);
    await untilIndexed('usr_new', 'zebras', other);
    await untilIndexed('usr_new', 'zebras');
  });

  test('that is pending is found once it is complete', async () => {
    const { id } = await replica.conversations.create('usr_pending');
    const [message] = await replica.conversations.append('usr_pending', id, [
      { role: 'assistant', content: 'half a walrus', status: 'pending' },
    ]);
    expect((await find('usr_pending', 'walrus')).total).toBe(0);
    const end = { content: 'a whole walrus', status: 'complete' as const, model: 'm-1' };
    await replica.conversations.complete(message?.id ?? '', end);
    await untilIndexed('usr_pending', 'walrus');
    expect((await find('usr_pending', 'walrus')).hits[0]).toMatchObject({ model: 'm-1' });
  });

  test('that the embedder refuses is found by its words, and holds up no other', async () => {
    await replica.say('usr_refused', ['UNREADABLE ocelot', 'a readable ocelot']);
    await vi.waitFor(async () => {
      const { hits } = await find('usr_refused', 'ocelot');
      expect(new Set(hits.map(({ embedder }) => embedder))).toEqual(new Set(['text', 'hashed']));
    });
  });
});

describe('a deleted conversation', () => {
  test('is found no more on any replica, and leaves no vectors', async () => {
    const id = await replica.say('usr_gone', ['a penguin on the ice']);
    await untilIndexed('usr_gone', 'penguin');
    await untilIndexed('usr_gone', 'penguin', other);
    await replica.conversations.remove('usr_gone', id);
    expect((await find('usr_gone', 'penguin')).total).toBe(0);
    await vi.waitFor(async () => expect((await find('usr_gone', 'penguin', other)).total).toBe(0));
    const left = await ground.database.query(
      "select 1 from chat.message_vectors where owner_id = 'usr_gone'",
    );
    expect(left).toEqual([]);
  });
});
