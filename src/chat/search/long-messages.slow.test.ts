import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChatGround, type ChatGround } from '../testing.ts';
import { createHashModels, startSearch } from './testing.ts';

let ground: ChatGround;
let replica: Awaited<ReturnType<typeof startSearch>>;

beforeAll(async () => {
  ground = await openChatGround();
  replica = await startSearch(ground, { models: createHashModels().client });
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const find = (owner: string, query: string, limit = 10) =>
  replica.search.find(owner, { query, limit });

describe('a message of a mebibyte', () => {
  const filler = (length: number) =>
    'ordinary filler, '.repeat(Math.ceil(length / 17)).slice(0, length);
  const places = [49_990, 199_995, 520_000, 1_048_000];
  const wordAt = (at: number) => `zebra${at}`;

  beforeAll(async () => {
    let text = '';
    for (const at of places) text += `${filler(at - text.length - 1)} ${wordAt(at)} `;
    await replica.say('usr_huge', [text]);
  });

  test.each(places)('is found by a word at its character %i, and shown from there', async (at) => {
    const { hits } = await find('usr_huge', wordAt(at));
    expect(hits).toHaveLength(1);
    expect(hits[0]?.snippet).toContain(`<mark>${wordAt(at)}</mark>`);
  });

  test('is found by words that stand far from each other, and not without the one that is excluded', async () => {
    expect((await find('usr_huge', 'zebra199995 zebra1048000')).hits).toHaveLength(1);
    expect((await find('usr_huge', 'zebra199995 -zebra1048000')).hits).toEqual([]);
  });

  test('is stored whatever words it has', async () => {
    const words = Array.from({ length: 150_000 }, (_, at) => at.toString(36).padStart(5, 'q'));
    await replica.say('usr_apart', [words.join(' ')]);
    expect((await find('usr_apart', words.at(-1) ?? '')).hits).toHaveLength(1);
  });
});

describe('messages of a mebibyte with letters beyond ASCII', () => {
  const tail = 'SCHLUß mit Überschrift, 針鼠 und Ende';
  // One word, which is too long for the index: that is stored quickly.
  const text = (at: number) => `heron${at} ${'ä'.repeat(520_000)} ${tail}`;

  beforeAll(async () => {
    const count = Array.from({ length: 20 }, (_, at) => at);
    for (const at of count) await replica.say('usr_wide', [text(at)]);
  });

  test('are found by words, phrases and characters at their ends, and shown from there', async () => {
    for (const query of ['überschrift', '"schluß MIT überschrift"', '針鼠']) {
      const { hits } = await find('usr_wide', query);
      expect(hits).toHaveLength(10);
      expect(hits[0]?.snippet).toMatch(/<mark>(?:Überschrift|針鼠)<\/mark>/);
    }
  });

  test('are read up to 16 MiB, and a search says that there may be more', async () => {
    for (const query of ['"mit überschrift"', '針鼠']) {
      const { total, isTotalExact } = await find('usr_wide', query, 100);
      expect(isTotalExact).toBe(false);
      expect(total).toBeGreaterThanOrEqual(16);
      expect(total).toBeLessThan(20);
    }
  });

  test('are shown by their beginnings behind 16 MiB', async () => {
    const { hits } = await find('usr_wide', 'überschrift', 100);
    expect(hits).toHaveLength(20);
    expect(hits.filter(({ snippet }) => snippet.includes('<mark>')).length).toBeLessThan(20);
    expect(hits.at(-1)?.snippet).toContain('heron');
  });
});
