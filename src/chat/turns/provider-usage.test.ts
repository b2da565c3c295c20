import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, openReplica, openTurnsGround, readAll, type TurnsGround } from './testing.ts';

const ada = 'usr_ada';
let ground: TurnsGround;
let replica: Awaited<ReturnType<typeof openReplica>>;

beforeAll(async () => {
  ground = await openTurnsGround();
  replica = await openReplica(ground);
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

/** What becomes of an answer whose provider counts like this. */
async function answerCountedAs(usage: object) {
  const { turns, conversations } = replica;
  ground.gateway.script((_asked, answer) => {
    answer.say('the answer');
    answer.finish('stop', usage);
  });
  const { id } = await conversations.create(ada);
  const events = await readAll(turns, (await turns.begin(ask('hello', id))).id);
  const [, message] = await conversations.messages(ada, id);
  return { end: events.at(-1), message, conversation: await conversations.find(ada, id) };
}

it.each([
  ['a part of a token', { prompt_tokens: 0.5, completion_tokens: 2, total_tokens: 2.5 }],
  ['more than any column holds', { prompt_tokens: 1e19, completion_tokens: 2, total_tokens: 1e19 }],
  ['more than an Int of GraphQL', { prompt_tokens: 2 ** 31, completion_tokens: 2 }],
  ['less than nothing', { prompt_tokens: 3, completion_tokens: -5, total_tokens: -2 }],
  ['texts', { prompt_tokens: '7', completion_tokens: '2', total_tokens: '9' }],
  ['a list', { prompt_tokens: [3], completion_tokens: 4 }],
])('an answer counted as %s stands, without a count', async (_what, usage) => {
  const { end, message, conversation } = await answerCountedAs({ ...usage, cost: 1 });
  expect(end).toMatchObject({ type: 'ended', status: 'completed' });
  expect(message).toMatchObject({ content: 'the answer', status: 'complete' });
  expect(message).not.toHaveProperty('usage');
  expect(conversation).toMatchObject({ totalTokens: 0, cost: 0 });
});

it.each([
  [{ total_tokens: 7.5 }, undefined],
  [{ total_tokens: 7, cost: -1 }, undefined],
  [{ total_tokens: null, cost: '2' }, undefined],
  [{ cost: 1e308 }, undefined],
  [{ cost: 0.25 }, 0.25],
])('a total that is none is the sum, and a cost that is none unknown: %o', async (odd, cost) => {
  const { message, conversation } = await answerCountedAs({
    prompt_tokens: 3,
    completion_tokens: 4,
    ...odd,
  });
  expect(message?.usage).toEqual({ promptTokens: 3, completionTokens: 4, totalTokens: 7, cost });
  expect(conversation).toMatchObject({ totalTokens: 7, cost: cost ?? 0 });
});
