import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openChatGround, type ChatGround } from '../testing.ts';
import { createHashModels, startSearch } from './testing.ts';

let ground: ChatGround;
/** Of each test its own. */
let owner: string;
let ownerNumber = 0;

beforeAll(async () => {
  ground = await openChatGround();
});
beforeEach(() => {
  ownerNumber += 1;
  owner = `usr_${ownerNumber}`;
});
afterAll(() => ground[Symbol.asyncDispose]());

type Replica = Awaited<ReturnType<typeof startSearch>>;

async function embeddersOf({ search }: Replica, query: string): Promise<string[]> {
  const { hits } = await search.find(owner, { query });
  return hits.map(({ embedder }) => embedder);
}

const soon = { timeout: 20_000, interval: 50 };

describe('while nothing embeds', () => {
  test('messages are found by their words, and get their vectors later', async () => {
    const { client, state } = createHashModels();
    state.isAway = true;
    await using replica = await startSearch(ground, { models: client });
    await replica.say(owner, ['a heron by the lake', 'nothing else']);
    expect(await embeddersOf(replica, 'heron')).toEqual(['text']);
    state.isAway = false;
    await vi.waitFor(async () => {
      expect(await embeddersOf(replica, 'heron')).toEqual(['hashed']);
    }, soon);
    state.isAway = true;
    expect(await embeddersOf(replica, 'heron lake')).toEqual(['text']);
  });
});

describe('a start', () => {
  test('embeds what has no vectors, once, and nothing again at the next start', async () => {
    const first = createHashModels();
    first.state.isAway = true;
    await using writer = await startSearch(ground, { models: first.client });
    const texts = Array.from({ length: 1_100 }, (_, at) => `stork number ${at}`);
    await writer.say(owner, texts);
    {
      const second = createHashModels();
      second.state.name = 'second';
      await using replica = await startSearch(ground, { models: second.client });
      await vi.waitFor(
        () => expect(second.state.seen).toEqual(expect.arrayContaining(texts)),
        soon,
      );
      await vi.waitFor(async () => {
        expect(await embeddersOf(replica, 'stork number 1099')).not.toContain('text');
      }, soon);
      const storks = second.state.seen.filter((text) => text.startsWith('stork number'));
      expect(storks.length).toBeLessThanOrEqual(1_101);
    }
    const third = createHashModels();
    third.state.name = 'second';
    await using replica = await startSearch(ground, { models: third.client });
    await replica.say(owner, ['a stork that came late']);
    await vi.waitFor(() => expect(third.state.seen).toContain('a stork that came late'), soon);
    expect(third.state.seen.filter((text) => text.startsWith('stork number'))).toEqual([]);
  });

  test('of a branch embeds its copies', async () => {
    const { client } = createHashModels();
    await using replica = await startSearch(ground, { models: client });
    const { conversations, search } = replica;
    const id = await replica.say(owner, ['a kingfisher dives']);
    const [message] = await conversations.messages(owner, id);
    const branch = await conversations.branch(owner, id, { messageId: message?.id ?? '' });
    await vi.waitFor(async () => {
      const { hits } = await search.find(owner, { query: 'kingfisher' });
      const found = hits.map(({ conversationId, embedder }) => [conversationId, embedder]);
      expect(new Map(found as [string, string][])).toEqual(
        new Map([
          [id, 'hashed'],
          [branch.id, 'hashed'],
        ]),
      );
    }, soon);
  });

  test('with another embedder embeds all anew, and asks the old vectors nothing', async () => {
    const old = createHashModels();
    old.state.name = 'longer';
    {
      await using replica = await startSearch(ground, { models: old.client });
      await replica.say(owner, ['an ibis in the reeds']);
      await vi.waitFor(async () => {
        expect(await embeddersOf(replica, 'ibis')).toEqual(['longer']);
      }, soon);
    }
    const next = createHashModels(64);
    next.state.name = 'shorter';
    await using replica = await startSearch(ground, { models: next.client });
    await vi.waitFor(async () => {
      expect(await embeddersOf(replica, 'ibis')).toEqual(['shorter']);
    }, soon);
  });
});

describe('several replicas', () => {
  test('embed each message on one of them alone', async () => {
    // PGlite has one process only; the lease is taken as on PostgreSQL.
    const { database: whole, bus } = ground;
    const database = new Proxy(whole, {
      get: (target, key) => {
        if (key === 'dialect') return 'postgres';
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const [one, other] = [createHashModels(), createHashModels()];
    await using first = await startSearch({ database, bus }, { models: one.client });
    await using second = await startSearch({ database, bus }, { models: other.client });
    await first.say(owner, ['flamingo pink', 'flamingo tall']);
    await second.say(owner, ['flamingo far']);
    await vi.waitFor(async () => {
      const names = [
        ...(await embeddersOf(first, 'flamingo')),
        ...(await embeddersOf(second, 'flamingo')),
      ];
      expect(names).toEqual(Array.from({ length: 6 }, () => 'hashed'));
    }, soon);
    const seen = [one, other].map(({ state }) =>
      state.seen.filter((text) => text.startsWith('flamingo ')),
    );
    const counts = seen.map(({ length }) => length);
    expect([Math.min(...counts), Math.max(...counts)]).toEqual([0, 3]);
  });
});
