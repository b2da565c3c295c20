import { afterAll, beforeAll, expect, it } from 'vitest';
import { calls, says } from '../gateway-testing.ts';
import type { StoredTurns } from './stored-turns.ts';
import { ask, callerOf, openTwoReplicas, readAll, textOf } from './testing.ts';

const ada = 'usr_ada';

let scene: Awaited<ReturnType<typeof openTwoReplicas>>;
let ground: typeof scene.ground;
let there: typeof scene.there;
let turns: StoredTurns;

beforeAll(async () => {
  scene = await openTwoReplicas();
  ({ ground, there } = scene);
  ({ turns } = scene.here);
});

afterAll(() => scene[Symbol.asyncDispose]());

const open = async () => (await scene.here.conversations.create(ada, {})).id;
const messagesOf = (id: string) => scene.here.conversations.messages(ada, id);

const options = { tools: [{ type: 'function', function: { name: 'mine' } }] };

/** A conversation whose last answer calls the caller's own tool twice. */
async function openCalls() {
  const id = await open();
  ground.gateway.script(calls(['call_1', 'mine', {}], ['call_2', 'mine', {}]), says(['done']));
  await readAll(turns, (await turns.begin(ask('go', id, { options }))).id);
  return id;
}

const answer = (id: string, ...callIds: readonly (string | undefined)[]) => {
  const messages = callIds.map((callId) => ({ role: 'tool', content: '42', tool_call_id: callId }));
  return ask('', id, { messages, options });
};

it.each([
  ['messages.0.tool_call_id', ['other', 'call_2']],
  ['messages.0.tool_call_id', [undefined, 'call_2']],
  ['messages.1.tool_call_id', ['call_1', 'call_1']],
  ['messages.2.tool_call_id', ['call_1', 'call_2', 'call_2']],
  ['messages', ['call_2']],
])('results that no model would be told of are refused: %s of %j', async (param, callIds) => {
  const id = await openCalls();
  await expect(turns.begin(answer(id, ...callIds))).rejects.toMatchObject({
    code: 'invalid',
    detail: { param },
  });
  expect(await messagesOf(id)).toHaveLength(2);
});

it('results are taken once, in any order, whichever replica they come to', async () => {
  const id = await openCalls();
  const begun = await Promise.allSettled(
    [turns, there.turns].map((on) => on.begin(answer(id, 'call_2', 'call_1'))),
  );
  expect(begun.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const [turn] = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(textOf(await readAll(turns, turn!.id))).toBe('done');
  const again = turns.begin(answer(id, 'call_1', 'call_2'));
  await expect(again).rejects.toMatchObject({ code: 'invalid' });
  expect(await messagesOf(id)).toHaveLength(5);
});

it('results are told again to a model whose answer never came', async () => {
  const id = await openCalls();
  ground.gateway.script((_asked, model) => model.refuse(503, 'provider_error', 'away'));
  await readAll(turns, (await turns.begin(answer(id, 'call_1', 'call_2'))).id);
  ground.gateway.script(says(['done']));
  const turn = await turns.begin(answer(id, 'call_1', 'call_2'));
  expect(textOf(await readAll(turns, turn.id))).toBe('done');
  expect(ground.gateway.asked.at(-1)?.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'tool', tool_call_id: 'call_1', content: '42' },
    { role: 'tool', tool_call_id: 'call_2', content: '42' },
  ]);
});

it('results are refused once something else was asked', async () => {
  const id = await openCalls();
  ground.gateway.script((_asked, model) => model.refuse(503, 'provider_error', 'away'));
  await readAll(turns, (await turns.begin(ask('never mind', id))).id);
  const late = turns.begin(answer(id, 'call_1', 'call_2'));
  await expect(late).rejects.toMatchObject({ code: 'invalid' });
});

it("nobody answers in a conversation that is another's", async () => {
  const request = answer(await openCalls(), 'call_1', 'call_2');
  const foreign = turns.begin({ ...request, caller: callerOf('usr_eve') });
  await expect(foreign).rejects.toMatchObject({ reason: 'conversation_not_found' });
});

it('nothing is answered before it is asked, or while it is', async () => {
  const id = await open();
  await expect(turns.begin(answer(id, 'call_1'))).rejects.toMatchObject({ code: 'invalid' });
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  ground.gateway.script(async (_asked, model) => {
    await gate;
    model.finish();
  });
  const turn = await turns.begin(ask('hello', id));
  const early = turns.begin(answer(id, 'call_1'));
  await expect(early).rejects.toMatchObject({ reason: 'turn_in_progress' });
  release();
  await readAll(turns, turn.id);
});
