import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { EmbeddingsClient } from '../../kit/vectors/embed-texts.ts';
import { Fault } from '../../kit/errors.ts';
import { startModels } from '../../models/testing.ts';
import { openChatGround, type ChatGround } from '../testing.ts';
import { createHashModels, startSearch } from './testing.ts';

/** Questions that share hardly a word with the message that answers them. */
const paraphrases: readonly (readonly [asked: string, text: string])[] = [
  [
    'how do I sign in again when I forgot my secret',
    'To reset your password, click the link in the email that we sent.',
  ],
  [
    'the app is sluggish',
    'Response times doubled after the last update; the page takes ten seconds to load.',
  ],
  [
    'cheap places to sleep in the city',
    'The hostel near the station has beds for twenty euros a night.',
  ],
  ['what should the dog eat', 'Puppies need small portions of meat and grain three times a day.'],
  ['my tooth hurts', 'Call the dentist in the morning and take a painkiller until then.'],
  ['get our money back', 'You are entitled to a refund within thirty days of the purchase.'],
  ['bug that loses what people typed', 'Unsaved form data disappears when the session expires.'],
  [
    'scale the service horizontally',
    'Add more replicas behind the load balancer when traffic grows.',
  ],
  [
    'employment interview advice',
    'Prepare three questions for the hiring manager and arrive early.',
  ],
  ['a present for my mother', 'A scarf or a box of chocolates would be a nice gift for mum.'],
  [
    'is it going to be wet tomorrow',
    'The weather forecast says heavy rain and thunderstorms for Tuesday.',
  ],
  [
    'lower the electricity costs',
    'Switch off the heating at night and use LED lamps to save energy.',
  ],
  ['undo a mistaken purchase', 'To cancel an order open your basket history and choose withdraw.'],
  ['make code easier to read', 'Refactor long functions into smaller ones with clear names.'],
  ['staying fit without a gym', 'Do push-ups and squats at home and go jogging twice a week.'],
  [
    'where do penguins live',
    'These birds breed on the Antarctic coast and on islands in the southern ocean.',
  ],
  [
    'someone broke into my account',
    'We noticed a suspicious login from an unknown device; change your credentials.',
  ],
  [
    'quick evening meal',
    'Fry an onion, add rice and vegetables, and dinner is ready in twenty minutes.',
  ],
  [
    'learn to play an instrument',
    'Guitar lessons for beginners start every Monday at the music school.',
  ],
  ['nobody can reach the website', 'The server is down since noon and all requests time out.'],
];

const distractors = [
  'The committee approved the minutes of the previous meeting.',
  'Blue whales are the largest animals that ever lived.',
  'The train to Vienna leaves from platform nine.',
  'Please water the plants in the office on Friday.',
  'The theorem follows from the lemma by induction.',
  'Our neighbour painted his fence green.',
  'The novel is set in nineteenth century Petersburg.',
  'Sand the wood before you apply the varnish.',
  'The parliament adopted the budget with a narrow majority.',
  'Chess openings are named after cities and players.',
  'The telescope was launched on a French rocket.',
  'Wool shrinks when it is washed too hot.',
  'The orchestra rehearses in the old factory.',
  'Merge the branch after both reviewers agreed.',
  'The bridge was closed because of strong wind.',
  'Coffee beans are roasted at two hundred degrees.',
  'The glacier retreats by forty metres a year.',
  'His grandfather collected stamps and coins.',
  'The licence forbids commercial use of the pictures.',
  'Bees dance to tell others where flowers are.',
];

/** Names and numbers, as they are. */
const exact: readonly (readonly [asked: string, text: string])[] = [
  ['ENG-2047', 'ENG-2047 is blocked by the review of the security team.'],
  ['Wolgemuth', 'Ask Katrin Wolgemuth about the archive.'],
  ['readConfigOrThrow', 'readConfigOrThrow is called twice on startup.'],
  ['0x80070005', 'The installer stops with 0x80070005 on her laptop.'],
  ['fjord-west-2', 'The cluster fjord-west-2 was drained yesterday.'],
];

const all = [...paraphrases, ...exact];
const noModels: EmbeddingsClient = {
  createEmbeddings: () => Promise.reject(new Fault('unavailable', 'nobody embeds')),
};

let ground: ChatGround;
let models: Awaited<ReturnType<typeof startModels>>;

beforeAll(async () => {
  [ground, models] = await Promise.all([openChatGround(), startModels()]);
});
afterAll(async () => {
  await models[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

/** What a search over all the texts answers to each question, by whoever embeds. */
async function ask(client: EmbeddingsClient, embedder: string) {
  const owner = `usr_${embedder}`;
  const replica = await startSearch(ground, { models: client });
  try {
    await replica.say(owner, [...all.map(([, text]) => text), ...distractors]);
    await vi.waitFor(
      async () => {
        const { hits } = await replica.search.find(owner, { query: 'website server requests' });
        expect(hits.every((hit) => hit.embedder === embedder)).toBe(true);
        expect(hits.length).toBeGreaterThan(0);
      },
      { timeout: 10_000, interval: 50 },
    );
    const answers = [];
    for (const [query, right] of all) {
      const { hits } = await replica.search.find(owner, { query, minScore: 0, limit: 100 });
      answers.push({ right, hits });
    }
    return answers;
  } finally {
    await replica[Symbol.asyncDispose]();
  }
}

type Answers = Awaited<ReturnType<typeof ask>>;

function firstRight(answers: Answers): number {
  return answers.filter(({ right, hits }) => hits[0]?.content === right).length;
}

function reciprocalRank(answers: Answers): number {
  const ranks = answers.map(({ right, hits }) =>
    hits.findIndex(({ content }) => content === right),
  );
  return ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / (rank + 1)), 0) / ranks.length;
}

function precisionAt(answers: Answers, minScore: number) {
  const hits = answers.flatMap((answer) =>
    answer.hits.filter(({ score }) => score >= minScore).map((hit) => hit.content === answer.right),
  );
  return { count: hits.length, precision: hits.filter(Boolean).length / hits.length };
}

const inBox = once(() => ask(models.client, 'ennead-embed'));

test('the embedder that comes along finds more than what was compared before, and exact names', async () => {
  const answers = await inBox();
  const paraphrased = answers.slice(0, paraphrases.length);
  // The best of those that were compared had 8 of 20 first, and a mean reciprocal rank of 0.54.
  expect(firstRight(paraphrased)).toBeGreaterThan(8);
  expect(reciprocalRank(paraphrased)).toBeGreaterThan(0.54);
  expect(firstRight(answers.slice(paraphrases.length))).toBe(exact.length);
});

test('a least score keeps what is right, alike for every embedder and for words alone', async () => {
  const byEmbedder = [
    await inBox(),
    await ask(createHashModels().client, 'hashed'),
    await ask(noModels, 'text'),
  ];
  for (const minScore of [0.2, 0.5, 0.8]) {
    const kept = byEmbedder.map((answers) => precisionAt(answers, minScore));
    const precisions = kept.map(({ precision }) => precision);
    expect(Math.min(...kept.map(({ count }) => count))).toBeGreaterThanOrEqual(4);
    expect(Math.min(...precisions)).toBeGreaterThanOrEqual(minScore);
    expect(Math.max(...precisions) - Math.min(...precisions)).toBeLessThanOrEqual(0.2);
  }
});

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
