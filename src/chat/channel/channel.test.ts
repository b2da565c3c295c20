import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { SpanKind } from '../../kit/trace/trace.ts';
import { TestClient } from '../../kit/sockets/testing.ts';
import {
  connectPlain,
  connectSocketIo,
  type ChannelClient,
  type Frame,
} from './clients-testing.ts';
import { answerOf, ScriptedChat, startChannel } from './testing.ts';

const chat = new ScriptedChat();
let one: Awaited<ReturnType<typeof startChannel>>;
/** Another replica. */
let two: Awaited<ReturnType<typeof startChannel>>;
const clients: ChannelClient[] = [];

beforeAll(async () => {
  one = await startChannel({ chat });
  two = await startChannel({ chat });
});

beforeEach(() => {
  for (const client of clients.splice(0)) client.close();
  chat.script = undefined;
  chat.refusal = undefined;
});

afterAll(async () => {
  for (const client of clients.splice(0)) client.close();
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});

type Protocol = 'plain' | 'websocket' | 'polling';
const protocols: readonly Protocol[] = ['plain', 'websocket', 'polling'];

/** A client of a user, of the first replica unless told. */
async function connect(protocol: Protocol, sub: string, replica = one): Promise<ChannelClient> {
  const token = await replica.issuer.sign({ sub });
  const client =
    protocol === 'plain'
      ? await connectPlain(`${replica.url}/`, token)
      : await connectSocketIo(replica.url, { token, transports: [protocol] });
  clients.push(client);
  return client;
}

/** All that a client is told of a turn up to its end. */
async function wholeTurn(client: ChannelClient): Promise<Frame['data'][]> {
  const told: Frame['data'][] = [];
  while (!told.at(-1)?.finished) told.push(await client.next('chat_response'));
  return told;
}

describe.each(protocols)('over %s', (protocol) => {
  test('an unknown event is refused, and the socket stays', async () => {
    const client = await connect(protocol, 'usr_unknown');
    client.send('shout', { a: 1 });
    expect(await client.next('error')).toMatchObject({
      success: false,
      code: 'UNKNOWN_EVENT',
      event: 'shout',
      error: expect.any(String),
      details: expect.any(String),
      timestamp: expect.any(String),
    });
    client.send('subscribe', { type: 'agent_progress' });
    expect(await client.next('error')).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test.each([
    ['chat_message', { message: ' ' }, 'data.message'],
    ['chat_message', { message: 1 }, 'data.message'],
    ['chat_message', { message: 'a', conversation_id: 7 }, 'data.conversation_id'],
    ['chat_message', undefined, 'data'],
    ['voice_command', { transcription: 'a', confidence: 2 }, 'data.confidence'],
    ['subscribe', { type: 'else', agent_id: 'a' }, 'data.type'],
    ['resume', { turn_id: 'a', after: -1 }, 'data.after'],
    ['stop', {}, 'turn_id'],
  ])('%s with %j is refused with the place of the flaw', async (event, data, place) => {
    const client = await connect(protocol, 'usr_wrong');
    client.send(event, data);
    const refusal = await client.next('error');
    expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR', event });
    expect(refusal.error).toContain(place);
  });

  test('what a turn is refused with is told, and no empty conversation stays', async () => {
    const client = await connect(protocol, 'usr_refused');
    chat.refusal = new Fault('conflict', 'a turn runs', { reason: 'turn_in_progress' });
    const before = chat.conversationCount;
    client.send('chat_message', { message: 'hello' });
    expect(await client.next('error')).toMatchObject({ code: 'TURN_IN_PROGRESS' });
    expect(chat.conversationCount).toBe(before);
  });

  test('what is wrong on our side is told without what is behind it', async () => {
    const client = await connect(protocol, 'usr_broken');
    chat.refusal = new Error('secret') as Fault;
    client.send('chat_message', { message: 'hello' });
    const refusal = await client.next('error');
    expect(refusal).toMatchObject({ code: 'INTERNAL' });
    expect(JSON.stringify(refusal)).not.toContain('secret');
  });

  test('a message is a span, and what comes of it is below', async () => {
    const client = await connect(protocol, 'usr_traced');
    client.send('chat_message', { message: 'hello' });
    await client.next('conversation');
    const { traceparent } = chat.asked.at(-1) ?? {};
    const span = await vi.waitUntil(() =>
      one.spans.find(({ spanId }) => traceparent?.includes(spanId)),
    );
    expect(span).toMatchObject({ name: 'chat_message', kind: SpanKind.SERVER });
    expect(traceparent).toBe(`00-${span.traceId}-${span.spanId}-01`);
    expect(span.parentSpanId).toBeUndefined();
  });

  test('a message begins a turn whose pieces and end come as they are', async () => {
    const client = await connect(protocol, 'usr_hello');
    chat.script = answerOf(['Hel', 'lo "there" ', '☃']);
    client.send('chat_message', { message: 'Say hello', model: 'small' });
    const { conversation_id } = await client.next('conversation');
    const told = await wholeTurn(client);
    expect(told.map(({ token }) => token)).toEqual(['Hel', 'lo "there" ', '☃', '']);
    expect(told.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
    for (const response of told) {
      expect(response).toMatchObject({
        conversation_id,
        message_id: 'msg_1',
        model: 'scripted',
        finished: response === told.at(-1),
        id: expect.stringMatching(/^trn_/),
      });
    }
    expect(told.at(-1)).toMatchObject({
      finish_reason: 'stop',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
    expect(chat.asked.at(-1)).toMatchObject({
      conversationId: conversation_id,
      model: 'small',
      messages: [{ role: 'user', content: 'Say hello' }],
      caller: { identity: { subject: 'usr_hello' }, credential: expect.stringContaining('.') },
    });
  });

  test('null says of what may be absent that it is', async () => {
    const client = await connect(protocol, 'usr_null');
    chat.script = answerOf(['Hel', 'lo']);
    const absent = { conversation_id: null, model: null, stream: null, idempotency_key: null };
    client.send('chat_message', { message: 'Hello', ...absent });
    expect((await wholeTurn(client)).map(({ token }) => token)).toEqual(['Hel', 'lo', '']);
  });

  test('with stream false the answer comes in one piece', async () => {
    const client = await connect(protocol, 'usr_whole');
    chat.script = answerOf(['Hel', 'lo']);
    client.send('chat_message', { message: 'Hello', stream: false });
    const told = await wholeTurn(client);
    expect(told).toMatchObject([{ token: 'Hello', finished: true, finish_reason: 'stop' }]);
    client.send('chat_message', { message: 'Hello' });
    expect((await wholeTurn(client)).map(({ token }) => token)).toEqual(['Hel', 'lo', '']);
  });

  test('a turn that fails says why, with what stands until then', async () => {
    const client = await connect(protocol, 'usr_fails');
    const turn = chat.addTurn('usr_fails');
    chat.tell(turn, { type: 'delta', content: 'Hel' });
    chat.tell(turn, { type: 'failed', code: 'provider_error', message: 'it broke' });
    expect(await wholeTurn(client)).toMatchObject([
      { token: 'Hel', finished: false },
      {
        finished: true,
        finish_reason: 'error',
        error: { code: 'PROVIDER_ERROR', message: 'it broke' },
      },
    ]);
  });

  test('tools, approvals and thoughts are told beside the answer', async () => {
    const client = await connect(protocol, 'usr_tools');
    const turn = chat.addTurn('usr_tools');
    const call = { id: 'call_1', name: 'files__read', arguments: '{}' };
    chat.tell(turn, { type: 'reasoning', content: 'hm' });
    chat.tell(turn, { type: 'tool-call', call, needsApproval: true });
    chat.tell(turn, { type: 'approval', callId: 'call_1', isApproved: true });
    const result = { callId: 'call_1', name: 'files__read', content: 'text', isError: false };
    chat.tell(turn, { type: 'tool-result', ...result });
    expect(await client.next('chat_response')).toMatchObject({ token: '', reasoning: 'hm' });
    expect(await client.next('tool_call')).toMatchObject({
      call_id: 'call_1',
      name: 'files__read',
      needs_approval: true,
      seq: 2,
    });
    expect(await client.next('approval')).toMatchObject({ call_id: 'call_1', approved: true });
    expect(await client.next('tool_result')).toMatchObject({ content: 'text', is_error: false });
    const approve = (approved: boolean) =>
      client.send('approve', { turn_id: turn.id, answers: [{ call_id: 'call_1', approved }] });
    approve(true);
    expect(await client.next('error')).toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' });
    approve(false);
    await expect
      .poll(() => chat.approvals.at(-1))
      .toEqual([{ callId: 'call_1', isApproved: false }]);
  });

  test('a turn is stopped, and resumed behind any of its events, by its owner alone', async () => {
    const owner = `usr_stops_${protocol}`;
    const client = await connect(protocol, owner);
    const other = await connect(protocol, 'usr_other');
    const conversation = await chat.conversations.create(owner);
    const turn = chat.addTurn(owner, conversation.id);
    for (const content of ['a', 'b', 'c']) chat.tell(turn, { type: 'delta', content });
    other.send('resume', { turn_id: turn.id });
    expect(await other.next('error')).toMatchObject({ code: 'TURN_NOT_FOUND', event: 'resume' });
    client.send('resume', { turn_id: turn.id, after: 1 });
    expect(await client.next('resumed')).toEqual({ id: turn.id, after: 1 });
    chat.tell(turn, { type: 'delta', content: 'd' });
    client.send('stop', { conversation_id: conversation.id });
    await expect.poll(() => client.frames.at(-1)?.data.finished).toBe(true);
    const behind = client.frames.slice(client.frames.findIndex(({ event }) => event === 'resumed'));
    expect(behind.slice(1).map(({ data }) => data.token)).toEqual(['b', 'c', 'd', '']);
    expect(other.frames.some(({ event }) => event === 'chat_response')).toBe(false);
  });

  test("what is not there, or is another's, is neither stopped nor resumed", async () => {
    const client = await connect(protocol, 'usr_missing');
    const foreign = await chat.conversations.create('usr_other');
    const theirs = chat.addTurn('usr_other', foreign.id);
    for (const id of ['cnv_none', foreign.id]) {
      client.send('stop', { conversation_id: id });
      expect(await client.next('error')).toMatchObject({ code: 'CONVERSATION_NOT_FOUND' });
    }
    for (const id of ['trn_none', theirs.id]) {
      client.send('stop', { turn_id: id });
      expect(await client.next('error')).toMatchObject({ code: 'TURN_NOT_FOUND' });
    }
    const mine = chat.addTurn('usr_missing');
    chat.answer(mine, ['a', 'b']);
    client.send('resume', { turn_id: mine.id, after: 5 });
    expect(await client.next('error')).toMatchObject({ code: 'TURN_NOT_FOUND', event: 'resume' });
    client.send('resume', { turn_id: mine.id, after: 4 });
    expect(await client.next('resumed')).toEqual({ id: mine.id, after: 4 });
  });

  test('what is said is done, and answered in the same session', async () => {
    const client = await connect(protocol, 'usr_speaks');
    client.send('voice_command', { transcription: 'stop', confidence: 0.9 });
    expect(await client.next('voice_feedback')).toEqual({
      speech: 'done',
      action: 'stop',
      session_id: 'vcs_1',
    });
    client.send('voice_command', { transcription: 'go', confidence: 0.9, session_id: 'mine' });
    expect(await client.next('voice_feedback')).toMatchObject({ session_id: 'mine' });
    client.send('voice_command', { transcription: 'on', confidence: 0.9 });
    await client.next('voice_feedback');
    expect(chat.commands.at(-1)).toMatchObject({ sessionId: 'mine', confidence: 0.9 });
  });

  test('progress of an agent comes to who asked for it and may see it', async () => {
    const client = await connect(protocol, 'usr_watches');
    const progress = {
      agentId: `agent-${protocol}`,
      taskId: 'tsk_1',
      progress: 0.5,
      status: 'running',
      message: 'half',
    } as const;
    const asked = { type: 'agent_progress', agent_id: progress.agentId };
    chat.tellProgress({ ...progress, message: 'unasked' });
    client.send('subscribe', asked);
    await expect
      .poll(() => {
        chat.tellProgress({ ...progress, ownerId: 'usr_else', message: 'foreign' });
        chat.tellProgress(progress);
        return client.frames[0]?.data;
      })
      .toEqual({
        agent_id: progress.agentId,
        task_id: 'tsk_1',
        progress: 0.5,
        status: 'running',
        message: 'half',
      });
    client.send('unsubscribe', asked);
    client.send('shout', {});
    await client.next('error');
    const count = client.frames.length;
    chat.tellProgress(progress);
    client.send('shout', {});
    await client.next('error');
    expect(client.frames.length).toBe(count + 1);
  });
});

test('all tabs of a user stay in step over all protocols and replicas, and nobody else hears', async () => {
  const tabs: ChannelClient[] = [];
  for (const replica of [one, two]) {
    for (const protocol of protocols) tabs.push(await connect(protocol, 'usr_tabs', replica));
  }
  const stranger = await connect('plain', 'usr_stranger');
  chat.script = answerOf(['one ', 'two ', 'three']);
  tabs[0]?.send('chat_message', { message: 'count' });
  const told = await Promise.all(tabs.map(wholeTurn));
  for (const each of told) expect(each).toEqual(told[0]);
  const created = await Promise.all(tabs.map((tab) => tab.next('conversation')));
  for (const each of created) expect(each).toEqual(created[0]);
  expect(created[0]).toMatchObject({ type: 'created', conversation: { message_count: 0 } });
  expect(stranger.frames).toEqual([]);
});

test('two hundred sockets of eight users are told of their own turns alone', async () => {
  const subjects = Array.from({ length: 8 }, (_, at) => `usr_crowd_${at}`);
  const crowd = await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const subject = subjects[at % 8] ?? '';
      const protocol = at < 100 ? 'plain' : 'websocket';
      return { subject, client: await connect(protocol, subject, at % 3 === 0 ? two : one) };
    }),
  );
  for (const subject of subjects) chat.answer(chat.addTurn(subject), [subject]);
  for (const { subject, client } of crowd) {
    expect((await wholeTurn(client)).map(({ token }) => token)).toEqual([subject, '']);
  }
});

test('news of a conversation and its messages come in the words of the REST answers', async () => {
  const client = await connect('plain', 'usr_news');
  chat.tellNews({
    type: 'message',
    ownerId: 'usr_news',
    conversationId: 'cnv_9',
    message: {
      id: 'msg_9',
      conversationId: 'cnv_9',
      place: 1,
      role: 'user',
      content: 'hi',
      status: 'complete',
      createdAtMs: 0,
    },
  });
  chat.tellNews({ type: 'deleted', ownerId: 'usr_news', conversationId: 'cnv_9' });
  expect(await client.next('message')).toEqual({
    conversation_id: 'cnv_9',
    message: {
      id: 'msg_9',
      place: 1,
      role: 'user',
      content: 'hi',
      status: 'complete',
      timestamp: '1970-01-01T00:00:00.000Z',
    },
  });
  expect(await client.next('conversation')).toEqual({ type: 'deleted', conversation_id: 'cnv_9' });
});

test('the first message of a conversation tells how it is called now', async () => {
  const client = await connect('plain', 'usr_titled');
  const { id: conversationId } = await chat.conversations.create('usr_titled');
  await client.next('conversation');
  const conversation = await chat.conversations.find('usr_titled', conversationId);
  const news = { type: 'message', ownerId: 'usr_titled', conversationId } as const;
  for (const place of [1, 2]) {
    chat.tellNews({
      ...news,
      conversation: { ...conversation, title: `Named by ${place}` },
      message: {
        id: `msg_${place}`,
        conversationId,
        place,
        role: 'user',
        content: 'hi',
        status: 'complete',
        createdAtMs: 0,
      },
    });
  }
  chat.tellNews({ type: 'deleted', ownerId: 'usr_titled', conversationId });
  expect(await client.next('conversation')).toMatchObject({
    type: 'changed',
    conversation: { id: conversationId, title: 'Named by 1' },
  });
  expect(await client.next('conversation')).toMatchObject({ type: 'deleted' });
});

test('a turn of no conversation is told to nobody', async () => {
  const client = await connect('plain', 'usr_bare');
  const { conversationId: _none, ...bare } = chat.addTurn('usr_bare');
  chat.answer(bare, ['secret']);
  client.send('shout', {});
  await client.next('error');
  expect(client.frames.map(({ event }) => event)).toEqual(['error']);
});

test('a message of which the caller has no completions left is refused', async () => {
  await using limited = await startChannel({
    takeCompletion: () => {
      throw new Fault('exhausted', 'too many', { reason: 'rate_limit_exceeded' });
    },
  });
  const client = await connect('plain', 'usr_many', limited);
  client.send('chat_message', { message: 'hello' });
  expect(await client.next('error')).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
});

describe('a plain WebSocket', () => {
  test('answers at /ws as at /', async () => {
    const token = await one.issuer.sign();
    const client = await connectPlain(`${one.url}/ws`, token);
    clients.push(client);
    client.send('shout', {});
    expect(await client.next('error')).toMatchObject({ code: 'UNKNOWN_EVENT' });
  });

  test('closes with 1007 at the third frame that is none', async () => {
    const headers = { authorization: `Bearer ${await one.issuer.sign()}` };
    const client = await new TestClient(one.url, { headers }).opened();
    for (const text of ['nonsense', '[]', '{"event":1}']) client.socket.send(text);
    expect(await client.take(3)).toMatchObject(
      Array.from({ length: 3 }, () => ({ event: 'error', data: { success: false } })),
    );
    expect(await client.closed()).toMatchObject({ code: 1007 });
  });

  test('says who it is in its first frame, and the frames behind it are done in order', async () => {
    const client = await new TestClient(`${one.url}/ws`).opened();
    const token = await one.issuer.sign({ sub: 'usr_frames' });
    chat.script = answerOf(['ok']);
    client.send({ auth: { token } });
    client.send({ event: 'shout' });
    client.send({ event: 'chat_message', data: { message: 'first' } });
    client.send({ event: 'chat_message', data: { message: 'second' } });
    expect(await client.next()).toMatchObject({ event: 'error', data: { code: 'UNKNOWN_EVENT' } });
    await expect.poll(() => chat.asked.at(-1)?.messages[0]?.content).toBe('second');
    expect(chat.asked.slice(-2).map(({ messages }) => messages[0]?.content)).toEqual([
      'first',
      'second',
    ]);
    expect(chat.asked.at(-1)?.caller.identity.subject).toBe('usr_frames');
    client.socket.close();
  });
});
