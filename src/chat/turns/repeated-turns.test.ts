import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { says, saysThen } from '../gateway-testing.ts';
import { ask, openTwoReplicas, readAll, textOf } from './testing.ts';

let scene: Awaited<ReturnType<typeof openTwoReplicas>>;

beforeAll(async () => {
  scene = await openTwoReplicas();
});

afterAll(() => scene[Symbol.asyncDispose]());

beforeEach(() => scene.ground.gateway.script(says(['Hello.'])));

const open = async () => (await scene.here.conversations.create('usr_ada', {})).id;

test('a request that comes again with its key is asked once, on any replica', async () => {
  const { here, there, ground } = scene;
  const id = await open();
  const asked = ground.gateway.asked.length;
  const request = { ...ask('hi', id), key: 'k1' };
  const both = await Promise.all([here.turns.begin(request), there.turns.begin(request)]);
  const first = await here.turns.begin(request);
  expect(new Set([...both, first].map((turn) => turn.id)).size).toBe(1);
  expect(textOf(await readAll(there.turns, first.id))).toBe('Hello.');
  expect(textOf(await readAll(there.turns, (await there.turns.begin(request)).id))).toBe('Hello.');
  const messages = await here.conversations.messages('usr_ada', id);
  expect(messages.map(({ content }) => content)).toEqual(['hi', 'Hello.']);
  expect(ground.gateway.asked.length).toBe(asked + 1);
});

test('another question, conversation, caller or key is another turn', async () => {
  const { turns } = scene.here;
  const [one, other] = [await open(), await open()];
  const requests = [
    { ...ask('hi', one), key: 'k2' },
    { ...ask('hi', other), key: 'k2' },
    { ...ask('hi'), key: 'k2' },
    { ...ask('ho'), key: 'k2' },
    { ...ask('hi'), key: 'k3' },
  ];
  const begun = await Promise.all(requests.map((request) => turns.begin(request)));
  expect(new Set(begun.map((turn) => turn.id)).size).toBe(requests.length);
  for (const { id } of begun) await readAll(turns, id);
});

test('a request without a conversation is asked once too', async () => {
  const { turns } = scene.here;
  const request = { ...ask('hi'), key: 'k4' };
  const [first, second] = await Promise.all([turns.begin(request), turns.begin(request)]);
  expect(second.id).toBe(first.id);
  await readAll(turns, first.id);
});

test('a request that failed is asked again with its key', async () => {
  const { turns } = scene.here;
  const { gateway } = scene.ground;
  gateway.script(saysThen(['Hel'], 'fail'), says(['Hello.']));
  const request = { ...ask('hi'), key: 'k5' };
  const first = await turns.begin(request);
  expect((await readAll(turns, first.id)).at(-1)).toMatchObject({ type: 'failed' });
  const second = await turns.begin(request);
  expect(second.id).not.toBe(first.id);
  expect(textOf(await readAll(turns, second.id))).toBe('Hello.');
  expect((await turns.begin(request)).id).toBe(second.id);
});
