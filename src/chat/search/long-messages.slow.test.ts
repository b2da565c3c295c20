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

const find = (owner: string, query: string) => replica.search.find(owner, { query });

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
