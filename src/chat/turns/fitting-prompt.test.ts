import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { calls, says, type Script } from '../gateway-testing.ts';
import {
  ask,
  openReplica,
  openTurnsGround,
  readAll,
  scriptTools,
  textOf,
  type TurnsGround,
} from './testing.ts';

const ada = 'usr_ada';
const sentence = 'word '.repeat(20);
const { tools } = scriptTools({ read: () => ({ content: sentence, isError: false }) });

let ground: TurnsGround;
let replica: Awaited<ReturnType<typeof openReplica>>;

beforeAll(async () => {
  ground = await openTurnsGround();
  replica = await openReplica(ground, { tools });
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

beforeEach(() => void ground.gateway.asked.splice(0));

interface Told {
  readonly role: string;
  readonly content: string | null;
}

/** Does as `script` where the prompt has at most so many characters, and refuses all others. */
function within(charsMax: number, script: Script): Script {
  return (asked, answer) => {
    const told: Told[] = asked.body.messages;
    const chars = told.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
    if (chars > charsMax) return answer.refuse(400, 'context_length_exceeded', 'too long');
    return script(asked, answer);
  };
}

const exchanges = (count: number) =>
  Array.from({ length: count }, (_, index) => [
    { role: 'user' as const, content: `question ${index} ${sentence}` },
    { role: 'assistant' as const, content: `answer ${index} ${sentence}` },
  ]).flat();

async function openWith(count: number) {
  const instruction = { role: 'system' as const, content: 'Be brief.' };
  const rules = { allow: ['files__*'], approval: 'writes' } as const;
  const { id } = await replica.conversations.create(ada, { tools: rules }, [
    instruction,
    ...exchanges(count),
  ]);
  return id;
}

async function answerTo(text: string, conversationId: string) {
  const turn = await replica.turns.begin(ask(text, conversationId));
  return readAll(replica.turns, turn.id);
}

const lastTold = (): Told[] => ground.gateway.asked.at(-1)?.body.messages;
const askedCount = () => ground.gateway.asked.length;

test('what is too long with nothing but the question is refused, and the next one is answered', async () => {
  const id = await openWith(2);
  ground.gateway.script(within(200, says(['yes'])));
  const events = await answerTo('x'.repeat(300), id);
  expect(events.at(-1)).toMatchObject({ type: 'failed', code: 'CONTEXT_LENGTH_EXCEEDED' });
  expect(lastTold().map(({ role }) => role)).toEqual(['system', 'user']);
  expect(askedCount()).toBeLessThanOrEqual(5);
  expect(textOf(await answerTo('hello', id))).toBe('yes');
  expect(lastTold().at(-1)).toEqual({ role: 'user', content: 'hello' });
});

test('a question that was too long does not take away what was said before it', async () => {
  const id = await openWith(2);
  ground.gateway.script(within(700, says(['yes'])));
  await answerTo('x'.repeat(800), id);
  expect(textOf(await answerTo('hello', id))).toBe('yes');
  expect(lastTold().slice(1)).toEqual([...exchanges(2), { role: 'user', content: 'hello' }]);
});

test('nor does one whose results of tools were too long', async () => {
  const id = await openWith(2);
  const script = calls(['call_1', 'read', {}], ['call_2', 'read', {}], ['call_3', 'read', {}]);
  const refuse = within(0, says([]));
  ground.gateway.script(script, refuse, refuse, refuse, within(600, says(['yes'])));
  expect((await answerTo('read all', id)).at(-1)).toMatchObject({ type: 'failed' });
  expect(textOf(await answerTo('hello', id))).toBe('yes');
  expect(lastTold().slice(1)).toEqual([...exchanges(2), { role: 'user', content: 'hello' }]);
});

const image = (url: string) => ({ type: 'image_url', image_url: { url } });

/** Refuses whatever holds this word, wherever it stands. */
function without(word: string): Script {
  return (asked, answer) => {
    if (JSON.stringify(asked.body.messages).includes(word)) return answer.refuse(400, 'wrong');
    return says(['yes'])(asked, answer);
  };
}

test('a question that was refused as wrong is not in the way of the next ones', async () => {
  const id = await openWith(2);
  ground.gateway.script(without('broken'));
  expect((await answerTo('broken', id)).at(-1)).toMatchObject({ type: 'failed', code: 'WRONG' });
  for (const text of ['hello', 'and again']) expect(textOf(await answerTo(text, id))).toBe('yes');
  expect(lastTold().slice(1, 5)).toEqual(exchanges(2));
  expect(
    lastTold()
      .slice(5)
      .map(({ content }) => content),
  ).toEqual(['hello', 'yes', 'and again']);
});

test('nor is a picture that one model took and another refuses, or that is gone', async () => {
  const id = await openWith(0);
  const parts = [{ type: 'text', text: 'What is this?' }, image('http://pictures.test/cat')];
  ground.gateway.script(says(['A cat.']));
  const messages = [{ role: 'user', content: parts }];
  await readAll(replica.turns, (await replica.turns.begin(ask('', id, { messages }))).id);
  ground.gateway.script(without('pictures.test'));
  expect(textOf(await answerTo('hello', id))).toBe('yes');
  expect(lastTold().slice(1)).toEqual([
    { role: 'user', content: [parts[0], { type: 'text', text: '(left out: image_url)' }] },
    { role: 'assistant', content: 'A cat.' },
    { role: 'user', content: 'hello' },
  ]);
  ground.gateway.script(says(['A dog.']));
  await answerTo('and now?', id);
  expect(lastTold()[1]).toEqual({ role: 'user', content: parts });
});

test('another refusal, and one of the answer that is wanted, are not asked about again', async () => {
  const id = await openWith(2);
  ground.gateway.script((_asked, answer) => answer.refuse(400, 'invalid_value'));
  expect((await answerTo('hello', id)).at(-1)).toMatchObject({ code: 'INVALID_VALUE' });
  expect(askedCount()).toBe(1);
  ground.gateway.script((_asked, answer) => {
    answer.say('so far');
    answer.fail('context_length_exceeded');
  });
  expect(textOf(await answerTo('hello', id))).toBe('so far');
  expect(askedCount()).toBe(2);
});

test('without a conversation nothing is left out', async () => {
  ground.gateway.script(within(10, says(['yes'])));
  const messages = [...exchanges(2), { role: 'user', content: 'hello' }];
  const turn = await replica.turns.begin(ask('', undefined, { messages }));
  expect((await readAll(replica.turns, turn.id)).at(-1)).toMatchObject({ type: 'failed' });
  expect(askedCount()).toBe(1);
});

test('a conversation that outgrows the context goes on with its latest messages', async () => {
  const id = await openWith(10);
  ground.gateway.script(within(1_500, says(['yes'])));
  expect(textOf(await answerTo('hello', id))).toBe('yes');
  const told = lastTold();
  expect(told.map(({ role }) => role).slice(0, 3)).toEqual(['system', 'user', 'assistant']);
  expect(told.slice(1, -1)).toEqual(exchanges(10).slice(-(told.length - 2)));
  expect(askedCount()).toBe(2);
});

test('so does a turn whose results of tools are too long, with its calls and results', async () => {
  const id = await openWith(2);
  const script = calls(['call_1', 'read', {}]);
  ground.gateway.script(within(500, script), within(300, says(['yes'])));
  expect(textOf(await answerTo('hello', id))).toBe('yes');
  expect(lastTold().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
});
