import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { calls, says, saysThen, startScriptedGateway, type Script } from '../gateway-testing.ts';
import type { StoredConversations } from '../conversations/stored-conversations.ts';
import type { StoredTurns } from './stored-turns.ts';
import { ask, callerOf, openReplica, openTwoReplicas, readAll, textOf } from './testing.ts';
import type { TurnEvent } from './turn.ts';

const ada = 'usr_ada';
const rules = { allow: ['files__*'], approval: 'writes' } as const;

type Scene = Awaited<ReturnType<typeof openTwoReplicas>>;
let scene: Scene;
let ground: Scene['ground'];
let here: Scene['here'];
let there: Scene['there'];
let tools: Scene['script'];
let turns: StoredTurns;
let conversations: StoredConversations;

beforeAll(async () => {
  scene = await openTwoReplicas();
  ({ ground, here, there, script: tools } = scene);
  ({ turns, conversations } = here);
});

afterAll(() => scene[Symbol.asyncDispose]());

beforeEach(() => {
  ground.gateway.script(says(['Hello', ', ', 'Ada', '.']));
  tools.made.length = 0;
});

const open = async (change = {}) => (await conversations.create(ada, change)).id;
const messagesOf = (id: string) => conversations.messages(ada, id);
/** A gateway that waits until it is told to go on. */
function gated(pieces: readonly string[]) {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script: Script = async (_asked, answer) => {
    for (const piece of pieces) answer.say(piece);
    await gate;
    answer.say('!');
    answer.finish();
  };
  ground.gateway.script(script);
  return { release: () => release() };
}

describe('a turn that fails', () => {
  it.each([{ n: 2 }, { logprobs: true }, { modalities: ['text', 'audio'] }])(
    'is refused where %j asks for more than a text',
    async (options) => {
      const [param] = Object.keys(options);
      const asked = turns.begin(ask('hello', undefined, { options }));
      await expect(asked).rejects.toMatchObject({ code: 'invalid', detail: { param } });
    },
  );

  it.each([
    [[], 'messages'],
    [[{ role: 'wizard', content: 'x' }], 'messages.0.role'],
    [[{ role: 'user', content: '  ' }], 'messages.0.content'],
    [[{ role: 'user' }], 'messages.0.content'],
    [[{ role: 'user', content: [{ type: 'spell' }] }], 'messages.0.content.0.type'],
    [[{ role: 'user', content: 7 as never }], 'messages.0.content'],
    [[{ role: 'user', content: 'x'.repeat(1024 * 1024 + 1) }], 'messages.0.content'],
    [[{ role: 'assistant', content: 'x' }], 'messages'],
  ])('stores nothing of messages that nobody could answer (%#)', async (messages, param) => {
    const id = await open();
    const request = ask('', id, { messages });
    await expect(turns.begin(request)).rejects.toMatchObject({
      code: 'invalid',
      reason: 'validation_error',
      detail: { param },
    });
    expect(await messagesOf(id)).toEqual([]);
  });

  it.each(['cnv_none', 'x', 'cnv_\u0000', ''])('refuses the conversation %j', async (id) => {
    await expect(turns.begin(ask('hello', id))).rejects.toMatchObject({
      reason: 'conversation_not_found',
    });
  });

  it("refuses another user's conversation and turn", async () => {
    const id = await open();
    const foreign = ask('hello', id, { caller: callerOf('usr_eve') });
    await expect(turns.begin(foreign)).rejects.toMatchObject({ reason: 'conversation_not_found' });
    const turn = await turns.begin(ask('hello', id));
    await expect(turns.find('usr_eve', turn.id)).rejects.toMatchObject({
      reason: 'turn_not_found',
    });
    expect(await turns.stop('usr_eve', { turnId: turn.id })).toBe(false);
    expect(await turns.stop('usr_eve', { conversationId: id })).toBe(false);
    expect((await readAll(turns, turn.id)).at(-1)).toMatchObject({ status: 'completed' });
    await expect(there.turns.find('usr_eve', turn.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is in a conversation that keeps the model of its first question', async () => {
    const id = await open();
    await readAll(turns, (await turns.begin(ask('one', id, { model: 'large' }))).id);
    await readAll(turns, (await turns.begin(ask('two', id, { model: 'small' }))).id);
    expect(await conversations.find(ada, id)).toMatchObject({ model: 'large', messageCount: 4 });
  });

  it('names the model that the gateway chose from the first piece on', async () => {
    ground.gateway.script((asked, answer) => {
      asked.body.model = 'chosen';
      answer.say('Hello');
      answer.finish();
    });
    const turn = await turns.begin(ask('one', await open()));
    expect(turn.model).toBe('auto-route');
    const named = (await readAll(turns, turn.id)).flatMap((event) =>
      'model' in event ? [[event.type, event.model]] : [],
    );
    expect(named).toEqual([
      ['begun', 'chosen'],
      ['ended', 'chosen'],
    ]);
  });

  it('refuses a second one in the same conversation, and takes it when the first has ended', async () => {
    const id = await open();
    const gate = gated(['a']);
    const first = await turns.begin(ask('one', id));
    for (const replica of [here, there]) {
      await expect(replica.turns.begin(ask('two', id))).rejects.toMatchObject({
        code: 'conflict',
        reason: 'turn_in_progress',
      });
    }
    gate.release();
    await readAll(turns, first.id);
    const second = await there.turns.begin(ask('two', id));
    await readAll(turns, second.id);
    expect((await messagesOf(id)).map(({ content }) => content)).toEqual([
      'one',
      'a!',
      'two',
      'a!',
    ]);
  });

  it.each([
    [400, 'bad_thing', 'invalid'],
    [401, 'invalid_token', 'unauthenticated'],
    [403, 'not_allowed', 'forbidden'],
    [404, 'model_not_found', 'not_found'],
    [418, 'teapot', 'invalid'],
    [429, 'budget_exceeded', 'exhausted'],
    [429, 'provider_rate_limited', 'unavailable'],
    [500, 'internal', 'unavailable'],
    [502, 'provider_failed', 'unavailable'],
    [504, 'deadline', 'unavailable'],
  ])(
    "says the gateway's refusal %i %s as %s, and keeps the question",
    async (status, code, kind) => {
      const id = await open();
      ground.gateway.script((_asked, answer) => answer.refuse(status, code, 'because'));
      const turn = await turns.begin(ask('hello', id));
      expect((await readAll(turns, turn.id)).at(-1)).toMatchObject({
        type: 'failed',
        code: code.toUpperCase(),
        message: 'because',
        kind,
      });
      const [question, answer] = await messagesOf(id);
      expect(question).toMatchObject({ role: 'user', content: 'hello', status: 'complete' });
      expect(answer).toMatchObject({ content: '', status: 'interrupted' });
      ground.gateway.script(says(['fine']));
      const next = await turns.begin(ask('again', id));
      await readAll(turns, next.id);
      expect(ground.gateway.asked.at(-1)?.body.messages).toEqual([
        { role: 'user', content: 'hello' },
        { role: 'user', content: 'again' },
      ]);
    },
  );

  it.each(['cut', 'fail'] as const)(
    'keeps what there was when the gateway dies: %s',
    async (end) => {
      const id = await open();
      ground.gateway.script(saysThen(['half ', 'an answer'], end));
      const turn = await turns.begin(ask('hello', id));
      const events = await readAll(turns, turn.id);
      expect(textOf(events)).toBe('half an answer');
      expect(events.at(-1)).toMatchObject({ type: 'failed', kind: 'unavailable' });
      expect((await messagesOf(id))[1]).toMatchObject({
        content: 'half an answer',
        status: 'interrupted',
      });
      await expect(there.turns.find(ada, turn.id)).resolves.toMatchObject({ status: 'failed' });
    },
  );

  it('says that the gateway cannot be reached', async () => {
    await using gone = await startScriptedGateway();
    await using replica = await openReplica({ ...ground, gateway: gone });
    await gone.fall();
    const turn = await replica.turns.begin(ask('hello'));
    expect((await readAll(replica.turns, turn.id)).at(-1)).toMatchObject({
      code: 'GATEWAY_UNREACHABLE',
    });
    await gone.rise();
  });
});

describe('a turn', () => {
  it('stores question and answer before it says that it has ended', async () => {
    const id = await open({ model: 'small' });
    const turn = await turns.begin(ask('Who am I?', id));
    expect(turn).toMatchObject({
      ownerId: ada,
      conversationId: id,
      model: 'small',
      status: 'running',
    });
    const events = await readAll(turns, turn.id);
    const stored = await messagesOf(id);
    expect(stored).toMatchObject([
      { place: 1, role: 'user', content: 'Who am I?', status: 'complete', turnId: turn.id },
      {
        place: 2,
        id: turn.messageId,
        role: 'assistant',
        content: 'Hello, Ada.',
        status: 'complete',
        model: 'small',
        usage: { promptTokens: 10, completionTokens: 4, totalTokens: 14 },
      },
    ]);
    expect(textOf(events)).toBe('Hello, Ada.');
    expect(events[0]).toMatchObject({ seq: 1, type: 'begun', messageId: turn.messageId });
    expect(events.at(-1)).toMatchObject({
      seq: 6,
      type: 'ended',
      status: 'completed',
      finishReason: 'stop',
      usage: { totalTokens: 14 },
    });
    expect(await conversations.find(ada, id)).toMatchObject({ messageCount: 2, totalTokens: 14 });
    expect(await turns.find(ada, turn.id)).toMatchObject({ status: 'completed' });
  });

  it("asks with the caller's credential, options and history", async () => {
    const id = await open();
    await readAll(turns, (await turns.begin(ask('one', id))).id);
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'what the client thinks was said' },
      { role: 'user', content: 'two' },
    ];
    const options = { temperature: 0.5, max_tokens: 7 };
    await readAll(turns, (await turns.begin(ask('', id, { messages, options, model: 'big' }))).id);
    const asked = ground.gateway.asked.at(-1);
    expect(asked?.credential).toBe('token-of-usr_ada');
    expect(asked?.body).toMatchObject({ ...options, model: 'big', stream: true });
    expect(asked?.body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'Hello, Ada.' },
      { role: 'user', content: 'two' },
    ]);
    expect((await messagesOf(id)).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  it('tells the text that it stores, whatever a provider sends', async () => {
    const id = await open();
    ground.gateway.script(says(['a\0', 'b\0\0', '\\u0000 \\', '\0']));
    const events = await readAll(turns, (await turns.begin(ask('hello', id))).id);
    expect(textOf(events)).toBe('a\ufffdb\ufffd\ufffd\\u0000 \\\ufffd');
    expect((await messagesOf(id))[1]).toMatchObject({ content: textOf(events) });
  });

  it('fails where the text of an answer is none', async () => {
    ground.gateway.script((_asked, answer) => answer.delta({ content: [{ type: 'text' }] }));
    const events = await readAll(turns, (await turns.begin(ask('hello'))).id);
    expect(events.at(-1)).toMatchObject({ type: 'failed', code: 'GATEWAY_BROKEN' });
  });

  it('keeps pictures with their text', async () => {
    const id = await open();
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ];
    await readAll(
      turns,
      (await turns.begin(ask('', id, { messages: [{ role: 'user', content }] }))).id,
    );
    expect((await messagesOf(id))[0]).toMatchObject({ content: 'What is it?', parts: content });
    await readAll(turns, (await turns.begin(ask('and?', id))).id);
    expect(ground.gateway.asked.at(-1)?.body.messages[0]).toEqual({ role: 'user', content });
  });

  it('tells a model of the latest messages only, as many as fit, from a question on', async () => {
    const id = await open();
    const text = 'x'.repeat(1024 * 1024 - 1);
    await conversations.append(ada, id, [
      { role: 'system', content: 'Be brief.' },
      ...Array.from({ length: 5 }, (_, index) => ({
        role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: index + text,
      })),
    ]);
    await readAll(turns, (await turns.begin(ask('now', id))).id);
    const told: { content: string }[] = ground.gateway.asked.at(-1)?.body.messages;
    expect(told.map(({ content }) => content.slice(0, 9))).toEqual([
      'Be brief.',
      '2xxxxxxxx',
      '3xxxxxxxx',
      '4xxxxxxxx',
      'now',
    ]);
  });

  it('tells a model of the newest 500 messages, and of no question before them', async () => {
    const id = await open();
    const said = Array.from({ length: 602 }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `said ${index}`,
    }));
    await conversations.append(ada, id, said);
    await readAll(turns, (await turns.begin(ask('now', id))).id);
    const told: { content: string }[] = ground.gateway.asked.at(-1)?.body.messages;
    const contents = told.map(({ content }) => content);
    expect(contents).toEqual([...said.slice(102).map(({ content }) => content), 'now']);
  });

  it('leaves out a message that is too large, its answer and all before it', async () => {
    const id = await open();
    const url = `data:image/png;base64,${'A'.repeat(4 * 1024 * 1024)}`;
    await conversations.append(ada, id, [
      { role: 'user', content: 'before' },
      { role: 'user', content: '', parts: [{ type: 'image_url', image_url: { url } }] },
      { role: 'assistant', content: 'all black' },
      { role: 'user', content: 'after' },
    ]);
    await readAll(turns, (await turns.begin(ask('now', id))).id);
    const told: { content: string }[] = ground.gateway.asked.at(-1)?.body.messages;
    expect(told.map(({ content }) => content)).toEqual(['after', 'now']);
  });

  it('belongs to no conversation where none is named, and is kept all the same', async () => {
    const turn = await turns.begin(ask('hello'));
    expect(turn.conversationId).toBeUndefined();
    await readAll(turns, turn.id);
    expect(textOf(await readAll(there.turns, turn.id))).toBe('Hello, Ada.');
    await expect(turns.find('usr_eve', turn.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it("hands the caller's own tools on, and their results back", async () => {
    const id = await open({ tools: rules });
    const options = { tools: [{ type: 'function', function: { name: 'mine' } }] };
    ground.gateway.script(calls(['call_1', 'mine', { a: 1 }]), says(['done']));
    const events = await readAll(turns, (await turns.begin(ask('go', id, { options }))).id);
    expect(events.slice(-2)).toMatchObject([
      { type: 'tool-call', isCallers: true, call: { id: 'call_1', name: 'mine' } },
      { type: 'ended', finishReason: 'tool_calls' },
    ]);
    const messages = [{ role: 'tool', content: '42', tool_call_id: 'call_1' }];
    await readAll(turns, (await turns.begin(ask('', id, { messages, options }))).id);
    const told = ground.gateway.asked.at(-1)?.body.messages;
    expect(told.slice(-1)).toEqual([{ role: 'tool', content: '42', tool_call_id: 'call_1' }]);
    expect(told).toHaveLength(3);
    expect(tools.made).toEqual([]);
  });
});

describe('on any replica', () => {
  it('a turn is read while it runs, as it is written', async () => {
    const id = await open();
    const gate = gated(['a', 'b', 'c']);
    const turn = await turns.begin(ask('hello', id));
    const told: TurnEvent[] = [];
    const unlisten = there.turns.listen(({ id: turnId }, event) => {
      if (turnId === turn.id) told.push(event);
    });
    const reading = readAll(there.turns, turn.id);
    const early = await readAll(there.turns, turn.id, { until: ({ seq }) => seq >= 4 });
    expect(textOf(early)).toBe('abc');
    gate.release();
    expect(textOf(await reading)).toBe('abc!');
    await expect.poll(() => told.at(-1)?.type).toBe('ended');
    expect(told.map(({ seq }) => seq)).toEqual(
      told.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
    unlisten();
  });

  it('all of an answer is heard that comes at once and is long', async () => {
    const text = `${'\u0001'.repeat(150_000)}${'🙂'.repeat(100_000)}${'a'.repeat(350_000)}`;
    ground.gateway.script(says([text, 'b'.repeat(100_000)]));
    const told: TurnEvent[] = [];
    const unlisten = there.turns.listen((_turn, event) => void told.push(event));
    const turn = await turns.begin(ask('hello', await open()));
    expect((await readAll(turns, turn.id)).at(-1)).toMatchObject({ type: 'ended' });
    await expect.poll(() => told.at(-1)?.type).toBe('ended');
    expect(textOf(told)).toBe(text + 'b'.repeat(100_000));
    unlisten();
  });

  it('a turn is stopped, and what was written stays', async () => {
    const id = await open();
    gated(['so ', 'far']);
    const turn = await turns.begin(ask('hello', id));
    await readAll(turns, turn.id, { until: ({ seq }) => seq === 3 });
    expect(await there.turns.stop(ada, { turnId: turn.id })).toBe(true);
    expect((await readAll(there.turns, turn.id)).at(-1)).toMatchObject({
      type: 'ended',
      status: 'stopped',
      finishReason: 'stop',
    });
    expect((await messagesOf(id))[1]).toMatchObject({ content: 'so far', status: 'stopped' });
    expect(ground.gateway.asked.at(-1)?.signal.aborted).toBe(true);
    expect(await turns.stop(ada, { turnId: turn.id })).toBe(false);
    expect(await there.turns.stop(ada, { conversationId: id })).toBe(false);
  });

  it('from each place, what follows is the same text', async () => {
    const id = await open();
    const pieces = Array.from({ length: 300 }, (_, index) => `${index}ü🙂"\\\n`);
    ground.gateway.script(says(pieces));
    const turn = await turns.begin(ask('hello', id));
    await readAll(turns, turn.id);
    for (let after = 0; after <= 302; after += 7) {
      const events = await readAll(there.turns, turn.id, { after });
      expect(textOf(events)).toBe(pieces.slice(Math.max(0, after - 1)).join(''));
      expect(events.at(-1)?.seq).toBe(after < 302 ? 302 : undefined);
    }
  });

  it('a conversation is deleted together with its turns, which end first', async () => {
    const id = await open();
    gated(['a']);
    const turn = await turns.begin(ask('hello', id));
    await there.conversations.remove(ada, id);
    expect((await readAll(turns, turn.id)).at(-1)?.type).toMatch(/ended|failed/);
    await expect(turns.find(ada, turn.id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
