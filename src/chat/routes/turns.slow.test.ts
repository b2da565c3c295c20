import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import type { ReadJson } from '../../kit/http/testing.ts';
import { Cancellation } from '../../kit/cancellation.ts';
import type { Contract } from '../../kit/contract.ts';
import type { AnswerSink } from '../../kit/answers/pushed-answer.ts';
import { parseEvents } from '../../kit/answers/sse.ts';
import { createTestServer, listenAnywhere } from '../../kit/testing.ts';
import { chatEnvelope } from '../envelope.ts';
import { calls, says, saysThen, type Script } from '../gateway-testing.ts';
import { turnRoutes } from '../schemas/turns.ts';
import { openReplica, openTurnsGround, scriptTools, type TurnsGround } from '../turns/testing.ts';
import { streamTurn } from './turn-stream.ts';
import { turnHandlers } from './turns.ts';

const contract = {
  name: 'chat',
  title: 'Chat',
  version: '0.1.0',
  description: 'turns alone',
  error: chatEnvelope.schema,
  routes: turnRoutes,
} as const satisfies Contract;

let ground: TurnsGround;
const tools = scriptTools({ write: () => ({ content: 'written', isError: false }) });

/** The turns of one replica behind a server of their own. */
async function openServer() {
  const replica = await openReplica(ground, {
    tools: tools.tools,
    timing: { storeMs: 20, pollMs: 200 },
  });
  const server = await createTestServer(contract, { envelope: chatEnvelope });
  const { turns, conversations } = replica;
  const completionLimit = { takeFor: () => {} };
  const parts = { turns, feeds: turns, conversations, completionLimit };
  server.http.serve(contract, turnHandlers(parts));
  const url = await listenAnywhere(server.http);
  const token = await server.issuer.sign({ sub: 'usr_ada' });
  const foreign = await server.issuer.sign({ sub: 'usr_eve' });
  const send = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    ...replica,
    url,
    token,
    foreign,
    send,
    [Symbol.asyncDispose]: async () => {
      await server.http.close(0);
      await replica[Symbol.asyncDispose]();
    },
  };
}

let here: Awaited<ReturnType<typeof openServer>>;
let there: Awaited<ReturnType<typeof openServer>>;

beforeAll(async () => {
  ground = await openTurnsGround();
  here = await openServer();
  there = await openServer();
});

afterAll(async () => {
  await there[Symbol.asyncDispose]();
  await here[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

beforeEach(() => ground.gateway.script(says(['Hello', ', ', 'Ada', '.'])));

const open = async (change = {}) => (await here.conversations.create('usr_ada', change)).id;
const question = { messages: [{ role: 'user', content: 'hello' }] };
const eventsOf = async (response: Response) => parseEvents(await response.text());
const chunksOf = (events: { data: string }[]): ReadJson[] =>
  events.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data));
const bodyOf = (response: Response): Promise<ReadJson> => response.json();
const textOf = (events: { data: string }[]) =>
  chunksOf(events)
    .map(({ choices }) => choices?.[0]?.delta.content ?? '')
    .join('');

describe('completions', () => {
  it.each([
    [{}, 'body'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'user', content: '' }] }, 'messages.0.content'],
    [{ messages: [{ role: 'spook', content: 'x' }] }, 'messages.0.role'],
    [{ ...question, temperature: 9 }, 'temperature'],
    [{ ...question, n: 2 }, 'n'],
  ])('refuse %j as invalid', async (body, place) => {
    for (const path of ['/api/chat/completions', '/api/chat/stream']) {
      const response = await here.send('POST', path, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        success: false,
        code: 'VALIDATION_ERROR',
        details: expect.stringContaining(place),
      });
    }
  });

  it('refuse a text beyond a megabyte, and a body beyond twelve', async () => {
    const text = (megabytes: number) => ({
      messages: [{ role: 'user', content: 'x'.repeat(megabytes * 1024 * 1024 + 1) }],
    });
    expect((await here.send('POST', '/api/chat/completions', text(1))).status).toBe(400);
    expect((await here.send('POST', '/api/chat/completions', text(12))).status).toBe(413);
  });

  it.each([
    [404, 'model_not_found', 404],
    [429, 'budget_exceeded', 429],
    [502, 'provider_failed', 503],
    [504, 'deadline', 503],
  ])("say the gateway's refusal %i %s as %i, streamed or not", async (status, code, told) => {
    ground.gateway.script((_asked, answer) => answer.refuse(status, code, 'because'));
    for (const stream of [false, true]) {
      const response = await here.send('POST', '/api/chat/completions', { ...question, stream });
      expect(response.status).toBe(told);
      expect(await response.json()).toMatchObject({ error: 'because', code: code.toUpperCase() });
    }
  });

  it.each([
    ['whole', ['so far'], false],
    ['streamed', [], true],
  ])('that the service gives up are to be repeated: %s', async (_, said, stream) => {
    const stopping = await openServer();
    ground.gateway.script(saysThen(said, 'hang'));
    const before = ground.gateway.asked.length;
    const answering = stopping.send('POST', '/api/chat/completions', { ...question, stream });
    await expect.poll(() => ground.gateway.asked.length).toBe(before + 1);
    await stopping[Symbol.asyncDispose]();
    const response = await answering;
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await response.json()).toMatchObject({ success: false, code: 'UNAVAILABLE' });
  });

  it('answer as the interface shows', async () => {
    const id = await open();
    const body = {
      ...question,
      model: 'small',
      temperature: 0.2,
      max_tokens: 50,
      conversation_id: id,
    };
    const response = await here.send('POST', '/api/chat/completions', body);
    expect(response.status).toBe(200);
    const [, answer] = await here.conversations.messages('usr_ada', id);
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^trn_/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'small',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello, Ada.' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
      conversation_id: id,
      message_id: answer?.id,
    });
    expect(ground.gateway.asked.at(-1)?.body).toMatchObject({ temperature: 0.2, max_tokens: 50 });
    expect(ground.gateway.asked.at(-1)?.body).not.toHaveProperty('conversation_id');
  });

  it("are what OpenAI's client expects, streamed and whole", async () => {
    const client = new OpenAI({ baseURL: `${here.url}/api`, apiKey: here.token, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const whole = await client.chat.completions.create({ model: 'small', messages });
    expect(whole.choices[0]?.message.content).toBe('Hello, Ada.');
    let text = '';
    for await (const chunk of await client.chat.completions.create({
      model: 'small',
      messages,
      stream: true,
    })) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toBe('Hello, Ada.');
    ground.gateway.script(calls(['call_1', 'mine', { a: 1 }]));
    const runner = client.chat.completions.stream({
      model: 'small',
      messages,
      tools: [{ type: 'function', function: { name: 'mine', parameters: {} } }],
    });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 'call_1', function: { name: 'mine', arguments: '{"a":1}' } }] },
    });
  });

  it('say which calls wait for their user', async () => {
    const id = await open({ tools: { allow: ['x__*'], approval: 'writes' } });
    ground.gateway.script(calls(['c1', 'write', {}], ['c2', 'write', {}]), says(['Done.']));
    const response = await here.send('POST', '/api/chat/completions', {
      ...question,
      conversation_id: id,
    });
    const body = await bodyOf(response);
    expect(body).toMatchObject({
      choices: [{ finish_reason: 'tool_calls' }],
      pending_approvals: [
        { call_id: 'c1', name: 'write' },
        { call_id: 'c2', name: 'write' },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 },
    });
    expect((await here.send('POST', '/api/chat/stop', { id: body.id })).status).toBe(200);
  });
});

describe('streams', () => {
  it('send chunks that name their places, a final one and [DONE]', async () => {
    const id = await open();
    ground.gateway.script(says(['a', 'b'], { pauseMs: 20 }));
    const response = await here.send('POST', '/api/chat/stream', {
      ...question,
      conversation_id: id,
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = await eventsOf(response);
    expect(events.at(-1)).toEqual({ data: '[DONE]' });
    const chunks = chunksOf(events);
    expect(chunks[0]).toEqual({
      id: chunks[0].id,
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: 'auto-route',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }],
      conversation_id: id,
      message_id: expect.stringMatching(/^msg_/),
    });
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ delta: {}, finish_reason: 'stop' }],
      usage: { total_tokens: 12 },
    });
    expect(events.slice(0, 3).map((event) => event.id)).toEqual(
      [2, 3, 4].map((seq) => `${chunks[0].id}:${seq}`),
    );
  });

  it.each(['cut', 'fail'] as const)('that break tell an error and no [DONE]: %s', async (end) => {
    ground.gateway.script(saysThen(['half'], end));
    const response = await here.send('POST', '/api/chat/stream', question);
    expect(response.status).toBe(200);
    const events = await eventsOf(response);
    expect(textOf(events)).toBe('half');
    expect(events.some(({ data }) => data === '[DONE]')).toBe(false);
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({
      success: false,
      error: { message: expect.any(String), code: expect.stringMatching(/^(GATEWAY|PROVIDER)_/) },
    });
    const again = await there.send('GET', '/api/chat/stream', undefined, {
      'last-event-id': `${events.at(-1)?.id?.split(':')[0]}:1`,
    });
    expect(textOf(await eventsOf(again))).toBe('half');
    const [turnId, last] = events.at(-1)?.id?.split(':') ?? [];
    // The second one was told by a process that died before it was stored.
    for (const seq of [Number(last), Number(last) + 5]) {
      const place = { 'last-event-id': `${turnId}:${seq}` };
      for (const { send } of [here, there]) {
        const told = await send('GET', '/api/chat/stream', undefined, place);
        expect(told.status).toBe(503);
        expect(await told.json()).toMatchObject({ code: expect.stringMatching(/^(G|PR)/) });
      }
    }
  });

  it.each([
    'nothing',
    'trn_x:1',
    `trn_${'0'.repeat(32)}:1`,
    `trn_${'0'.repeat(32)}:x`,
    `trn_${'0'.repeat(32)}`,
  ])('answer 404 to the place %s', async (place) => {
    const headers = { 'last-event-id': place };
    expect((await here.send('GET', '/api/chat/stream', undefined, headers)).status).toBe(404);
    expect((await here.send('POST', '/api/chat/stream', question, headers)).status).toBe(404);
  });

  it('answer 404 to others, and to a place behind the end', async () => {
    const body = await bodyOf(await here.send('POST', '/api/chat/completions', question));
    const path = `/api/chat/stream?last_event_id=${body.id}:`;
    const asEve = { authorization: `Bearer ${here.foreign}` };
    expect((await here.send('GET', `${path}0`, undefined, asEve)).status).toBe(404);
    expect((await here.send('POST', '/api/chat/stop', { id: body.id }, asEve)).status).toBe(404);
    expect((await here.send('GET', `${path}7`)).status).toBe(404);
    expect(await (await here.send('GET', `${path}6`)).text()).toBe('data: [DONE]\n\n');
    expect((await here.send('GET', '/api/chat/stream')).status).toBe(400);
  });

  it('go on from each place, on any replica, by GET and by the same POST', async () => {
    const response = await here.send('POST', '/api/chat/stream', question);
    const turnId = chunksOf(await eventsOf(response))[0].id;
    const asked = ground.gateway.asked.length;
    for (let seq = 0; seq <= 5; seq += 1) {
      const headers = { 'last-event-id': `${turnId}:${seq}` };
      const rest = ['Hello', ', ', 'Ada', '.'].slice(Math.max(0, seq - 1)).join('');
      for (const { send } of [here, there]) {
        const events = await eventsOf(await send('GET', '/api/chat/stream', undefined, headers));
        expect(textOf(events)).toBe(rest);
        expect(events.at(-1)?.data).toBe('[DONE]');
        const same = await eventsOf(
          await send('POST', '/api/chat/completions', { ...question, stream: true }, headers),
        );
        expect(textOf(same)).toBe(rest);
      }
    }
    expect(ground.gateway.asked).toHaveLength(asked);
  });

  it('whose connection is lost go on without it, and are read to the end', async () => {
    const id = await open();
    let finish = () => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const script: Script = async (_asked, answer) => {
      answer.say('before ');
      await gate;
      answer.say('after');
      answer.finish();
    };
    ground.gateway.script(script);
    const leaving = new AbortController();
    const response = await fetch(`${here.url}/api/chat/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${here.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, conversation_id: id }),
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    leaving.abort();
    finish();
    const place = /^id: (.*)$/m.exec(first)?.[1] ?? '';
    const resumed = await there.send('GET', '/api/chat/stream', undefined, {
      'last-event-id': place,
    });
    expect(textOf(await eventsOf(resumed))).toBe('after');
    expect((await here.conversations.messages('usr_ada', id))[1]).toMatchObject({
      content: 'before after',
      status: 'complete',
    });
  });

  it('are stopped from any replica, and end as if complete', async () => {
    const id = await open();
    ground.gateway.script(saysThen(['so far'], 'hang'));
    const response = await here.send('POST', '/api/chat/stream', {
      ...question,
      conversation_id: id,
    });
    const stopping = there.send('POST', '/api/chat/stop', { conversation_id: id });
    expect(await (await stopping).json()).toEqual({ success: true, stopped: true });
    const events = await eventsOf(response);
    expect(events.at(-1)?.data).toBe('[DONE]');
    expect(chunksOf(events).at(-1).choices[0].finish_reason).toBe('stop');
    const again = await here.send('POST', '/api/chat/stop', { conversation_id: id });
    expect(await again.json()).toEqual({ success: true, stopped: false });
    expect((await here.send('POST', '/api/chat/stop', { conversation_id: 'cnv_no' })).status).toBe(
      404,
    );
    expect((await here.send('POST', '/api/chat/stop', {})).status).toBe(400);
  });

  it('tell of calls, approvals and results in fields of their own', async () => {
    const id = await open({ tools: { allow: ['x__*'], approval: 'writes' } });
    ground.gateway.script(calls(['c1', 'write', { a: 1 }]), says(['Done.']));
    const response = await here.send('POST', '/api/chat/stream', {
      ...question,
      conversation_id: id,
    });
    await expect
      .poll(async () => (await here.conversations.messages('usr_ada', id))[1]?.status)
      .toBe('complete');
    const turnId = (await here.conversations.messages('usr_ada', id))[1]?.turnId ?? '';
    await expect
      .poll(async () => (await there.turns.find('usr_ada', turnId)).status)
      .toBe('waiting');
    const caller = { identity: { subject: 'usr_ada' }, credential: 'x' } as never;
    await there.turns.approve(caller, turnId, [{ callId: 'c1', isApproved: true }]);
    const events = await eventsOf(response);
    expect(chunksOf(events)).toMatchObject([
      {
        choices: [{ delta: { role: 'assistant' } }],
        tool_call: { call_id: 'c1', name: 'write', arguments: '{"a":1}', needs_approval: true },
      },
      { approval: { call_id: 'c1', approved: true } },
      { tool_result: { call_id: 'c1', name: 'write', content: 'written', is_error: false } },
      { choices: [{ delta: { content: 'Done.' } }] },
      { choices: [{ finish_reason: 'stop' }] },
    ]);
  });

  it('that the service gives up tell an error and where to go on', async () => {
    const stopping = await openServer();
    ground.gateway.script(saysThen(['so far'], 'hang'));
    const response = await stopping.send('POST', '/api/chat/stream', question);
    const [events] = await Promise.all([eventsOf(response), stopping[Symbol.asyncDispose]()]);
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({
      error: { message: 'the service is stopping', code: 'UNAVAILABLE', type: 'unavailable' },
    });
    expect(textOf(events.slice(0, -1))).toBe('so far');
    const headers = { 'last-event-id': events.at(-1)?.id ?? '' };
    const rest = await here.send('GET', '/api/chat/stream', undefined, headers);
    expect(await rest.json()).toMatchObject({ code: 'INTERRUPTED' });
  });

  it('that nobody reads are broken off, and can be read from there later', async () => {
    const pieces = Array.from({ length: 50 }, (_, index) => `${index} `);
    ground.gateway.script(says(pieces, { pauseMs: 2 }));
    const caller = { identity: { subject: 'usr_ada' }, credential: 'x' } as never;
    const turn = await here.turns.begin({ caller, ...question });
    let written = '';
    const sink: AnswerSink = {
      isBegun: true,
      waitingBytes: 0,
      begin: () => {},
      write: (text) => {
        written += text.toString();
        return false;
      },
      drained: () => new Promise(() => {}),
      drop: () => {},
    };
    const cancellation = new Cancellation();
    await streamTurn({ turn, after: 0, feeds: here.turns, cancellation, stalledMs: 50 }).push(sink);
    const [first, end, ...more] = parseEvents(written);
    expect(textOf([first!])).toMatch(/^0 /);
    expect(JSON.parse(end?.data ?? '')).toMatchObject({ error: { code: 'SLOW_READER' } });
    expect(more).toEqual([]);
    const headers = { 'last-event-id': end?.id ?? '' };
    const rest = await eventsOf(await there.send('GET', '/api/chat/stream', undefined, headers));
    expect(textOf([first!, ...rest])).toBe(pieces.join(''));
  });
});
