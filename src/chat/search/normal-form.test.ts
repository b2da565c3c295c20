import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChatGround, type ChatGround } from '../testing.ts';
import { NormalText, toNormalForm } from './normal-form.ts';
import { createHashModels, startSearch } from './testing.ts';

const hashed = createHashModels();
const written = [
  'wait… what happened',
  'Brand™ logo',
  'oven at 180 ℃',
  'ten\u00a0pages here',
  'Re\u0301sume\u0301 file',
  '１２３４ is wide',
  'ﾊﾞﾅﾅ is narrow',
  'the oﬃce door',
  '①first of all',
  'CO₂ in the air',
  'add 1½ cups',
  'x\u030ca is a letter',
];

let ground: ChatGround;
let replica: Awaited<ReturnType<typeof startSearch>>;

beforeAll(async () => {
  ground = await openChatGround();
  replica = await startSearch(ground, { models: hashed.client });
  await replica.say('usr_forms', written);
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const texts = async (owner: string, query: string, from = replica) =>
  (await from.search.find(owner, { query, minScore: 0.3 })).hits.map(({ content }) => content);

describe('a text is found however its characters are written', () => {
  test.each(written)('as a phrase, as it stands: %s', async (text) => {
    expect(await texts('usr_forms', `"${text}"`)).toEqual([text]);
    expect(await texts('usr_forms', `"${text.normalize('NFD')}"`)).toEqual([text]);
    expect(await texts('usr_forms', `"${text.normalize('NFKC').toUpperCase()}"`)).toEqual([text]);
  });

  test.each([
    ['Brand™', '<mark>Brand™</mark> logo'],
    ['brand', '<mark>Brand</mark>™ logo'],
    ['180℃', 'oven at <mark>180</mark> <mark>℃</mark>'],
    ['r\u00e9sum\u00e9', '<mark>Re\u0301sume\u0301</mark> file'],
    ['re\u0301sume\u0301', '<mark>Re\u0301sume\u0301</mark> file'],
    ['1234', '<mark>１２３４</mark> is wide'],
    ['１２３４', '<mark>１２３４</mark> is wide'],
    ['バナナ', '<mark>ﾊﾞﾅﾅ</mark> is narrow'],
    ['office', 'the <mark>oﬃce</mark> door'],
    ['①first', '<mark>①first</mark> of all'],
    ['first', '①first of all'],
    ['CO2', '<mark>CO₂</mark> in the air'],
    ['pages', 'ten\u00a0<mark>pages</mark> here'],
    ['½ cups', 'add 1<mark>½</mark> <mark>cups</mark>'],
    ['x\u030ca', '<mark>x\u030ca</mark> is a letter'],
  ])('by the words %s at once, which are marked', async (query, snippet) => {
    const { hits } = await replica.search.find('usr_forms', { query });
    expect(hits[0]?.snippet).toBe(snippet);
    expect(hits[0]?.score).toBeGreaterThan(0.5);
  });

  test.each(['-Brand™ logo', '-"brand™" logo', '-brand logo'])(
    'and kept out: %s',
    async (query) => {
      expect(await texts('usr_forms', query)).toEqual([]);
    },
  );

  test('by the first place in a long text', async () => {
    const long = `${'… Ⅷ ﷺ '.repeat(9_000)} the sphinx ${'filler '.repeat(9_000)}`;
    await replica.say('usr_long_form', [long]);
    const { hits } = await replica.search.find('usr_long_form', { query: 'sphinx' });
    expect(hits[0]?.snippet).toContain('<mark>sphinx</mark>');
  });
});

describe('a run of marks without end', () => {
  // Put into order as a whole it takes minutes.
  const marks = `o${'\u0301'.repeat(80_000)}${'\u0323'.repeat(80_000)} ordeal`;

  test('holds nobody up: neither who stores it nor who looks for it', async () => {
    await replica.say('usr_marks', [marks]);
    expect(await texts('usr_marks', 'ordeal')).toHaveLength(1);
    expect(await texts('usr_marks', '"ordeal"')).toHaveLength(1);
    const { total } = await replica.search.find('usr_marks', {
      query: marks.slice(75_000, 90_000),
    });
    expect(total).toBe(0);
  });

  test('keeps the normal form of what is shorter', () => {
    const short = `o${'\u0301'.repeat(15)}${'\u0323'.repeat(15)}`;
    expect(toNormalForm(short)).toBe(short.normalize('NFKC'));
  });
});

test.each(written)('each place of the normal form of %s is one of the text', (text) => {
  const normal = new NormalText(text);
  expect(normal.text).toBe(text.normalize('NFKC'));
  expect(normal.rawOf({ start: 0, end: normal.text.length })).toEqual({
    start: 0,
    end: text.length,
  });
});
