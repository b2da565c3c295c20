import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReadJson } from '../kit/http/testing.ts';
import { pathsOf } from '../kit/contract.ts';
import { TestClient } from '../kit/sockets/testing.ts';
import { chatContract } from './contract.ts';
import {
  caller,
  openChatGround,
  says,
  saysThen,
  startChat,
  startScriptedGateway,
  type Caller,
  type ChatGround,
  type RunningChat,
  type ScriptedGateway,
} from './testing.ts';

let gateway: ScriptedGateway;
let ground: ChatGround;
let chat: RunningChat;
let two: RunningChat;
let ada: Caller;
let adaElsewhere: Caller;
let bob: Caller;

beforeAll(async () => {
  gateway = await startScriptedGateway();
  gateway.answer('GET /api/v1/providers', { providers: [] });
  ground = await openChatGround();
  const peers = { gateway: gateway.url };
  [chat, two] = await Promise.all([startChat({ ground, peers }), startChat({ ground, peers })]);
  ada = await chat.callAs('usr_ada');
  adaElsewhere = await two.callAs('usr_ada');
  bob = await chat.callAs('usr_bob');
});

afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const root = '/api/conversations';
const message = (content: string, role = 'user') => ({ role, content });

async function create(body: unknown = {}): Promise<string> {
  const answer = await ada('POST', root, { body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

describe('whoever may not', () => {
  const routes = Object.entries(chatContract.routes).flatMap(([name, route]) =>
    'auth' in route ? [] : [[name, route] as const],
  );
  const pathOf = (path: string) => path.replaceAll(/:\w+/g, 'x');

  test.each(routes)('is refused without a token: %s', async (_name, route) => {
    for (const path of pathsOf(route)) {
      const { status, body } = await caller(chat.url)(route.method, pathOf(path));
      expect(status).toBe(401);
      expect(body).toMatchObject({ success: false, code: 'INVALID_TOKEN' });
    }
  });

  test('is refused without the permission', async () => {
    for (const [, route] of routes) {
      if (!('permission' in route)) continue;
      const { status, body } = await bob(route.method, pathOf(route.url));
      expect([route.url, status]).toEqual([route.url, 403]);
      expect(body).toMatchObject({ success: false, code: 'INSUFFICIENT_PERMISSIONS' });
    }
  });

  test("is told that another's conversation is not there", async () => {
    const id = await create({ title: 'Private', messages: [message('secret')] });
    const attempts = [
      bob('GET', `${root}/${id}`),
      bob('GET', `${root}/${id}/messages`),
      bob('PATCH', `${root}/${id}`, { body: { title: 'mine' } }),
      bob('POST', `${root}/${id}/branch`, { body: { message_id: 'msg_1' } }),
      bob('DELETE', `${root}/${id}`),
    ];
    for (const { status, body } of await Promise.all(attempts)) {
      expect([status, body.code]).toEqual([404, 'CONVERSATION_NOT_FOUND']);
    }
    expect((await ada('GET', `${root}/${id}`)).body.messages).toHaveLength(1);
  });
});

describe('refusals', () => {
  test('have the one envelope of the interface', async () => {
    const { status, body } = await ada('GET', `${root}/cnv_none`);
    expect(status).toBe(404);
    expect(body).toEqual({
      success: false,
      error: 'there is no such conversation',
      details: 'conversation_id: cnv_none',
      code: 'CONVERSATION_NOT_FOUND',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });

  test.each([
    ['a limit that is no number', 'GET', `${root}?limit=many`, undefined],
    ['a limit above 100', 'GET', `${root}?limit=101`, undefined],
    ['a negative offset', 'GET', `${root}?offset=-1`, undefined],
    ['an empty title', 'POST', root, { title: ' ' }],
    ['a role that nobody has', 'POST', root, { messages: [message('x', 'robot')] }],
    ['an empty message', 'POST', root, { messages: [message('')] }],
    ['no change at all', 'PATCH', `${root}/x`, {}],
    ['JSON that is none', 'POST', root, '{"title":'],
  ])('of %s say so', async (...args) => {
    const [, method, path, sent] = args;
    const { status, body } = await ada(method, path, sent === undefined ? {} : { body: sent });
    expect(status).toBe(400);
    expect(['VALIDATION_ERROR', 'INVALID_JSON']).toContain(body.code);
    expect(body.details).not.toBe('');
  });

  test('of a body that is too large say 413, and of a wrong method or type what the interface has', async () => {
    const large = { title: 'x', messages: [message('x'.repeat(13 * 1024 * 1024))] };
    expect((await ada('POST', root, { body: large })).status).toBe(413);
    const wrong = await ada('PUT', root, { body: {} });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([404, 'GET, HEAD, POST']);
    const text = await ada('POST', root, { body: 'a', headers: { 'content-type': 'text/plain' } });
    expect(text.status).toBe(400);
  });
});

describe('a conversation', () => {
  test('is created, read, changed, listed and deleted', async () => {
    const made = await ada('POST', root, { body: { title: 'Plans', model: 'small' } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ title: 'Plans', model: 'small', message_count: 0 });
    const { id } = made.body;
    expect(id).toMatch(/^cnv_/);
    const changed = await ada('PATCH', `${root}/${id}`, { body: { title: 'New plans' } });
    expect(changed.body).toMatchObject({ id, title: 'New plans', model: 'small' });
    const freed = await ada('PATCH', `${root}/${id}`, { body: { model: null } });
    expect(freed.body).toMatchObject({ title: 'New plans', model: 'auto-route' });
    await ada('PATCH', `${root}/${id}`, { body: { model: 'small' } });
    const listed = await ada('GET', `${root}?limit=1`);
    expect(listed.body).toMatchObject({
      limit: 1,
      offset: 0,
      conversations: [{ ...changed.body, updated_at: expect.any(String) }],
    });
    expect(listed.body.total).toBeGreaterThanOrEqual(1);
    expect((await ada('DELETE', `${root}/${id}`)).body).toEqual({
      success: true,
      message: 'the conversation was deleted',
    });
    expect((await ada('GET', `${root}/${id}`)).status).toBe(404);
    expect((await ada('DELETE', `${root}/${id}`)).status).toBe(404);
  });

  test('brings its messages along, and shows them as the interface does', async () => {
    const messages = [message('Be brief.', 'system'), message('Hi'), message('Hello', 'assistant')];
    const id = await create({ title: null, model: null, messages });
    const { body } = await ada('GET', `${root}/${id}`);
    expect(body).toMatchObject({
      id,
      title: 'Hi',
      message_count: 3,
      model: 'auto-route',
      created_at: expect.any(String),
    });
    expect(body.messages).toMatchObject(messages.map((one, at) => ({ ...one, place: at + 1 })));
    for (const one of body.messages) {
      expect(one.id).toMatch(/^msg_/);
      expect(Date.parse(one.timestamp)).toBeGreaterThan(0);
    }
    expect(body).not.toHaveProperty('next');
  });

  test('is read in pages that lead to one another', async () => {
    const id = await create({ messages: Array.from({ length: 5 }, (_, at) => message(`m${at}`)) });
    const seen: string[] = [];
    let next: number | undefined = 0;
    while (next !== undefined) {
      const path = `${root}/${id}/messages?limit=2&after=${next}`;
      const { body } = await ada('GET', path);
      expect(body.total).toBe(5);
      seen.push(...body.messages.map((one: { content: string }) => one.content));
      next = body.next;
    }
    expect(seen).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
    const detail = await ada('GET', `${root}/${id}?limit=2`);
    expect(detail.body).toMatchObject({ next: 2, messages: [{ place: 1 }, { place: 2 }] });
  });

  test('is branched off behind a message', async () => {
    const id = await create({ messages: [message('one'), message('two')] });
    const [first] = (await ada('GET', `${root}/${id}`)).body.messages;
    const branch = await ada('POST', `${root}/${id}/branch`, {
      body: { message_id: first.id, title: 'Elsewhere' },
    });
    expect(branch.status).toBe(201);
    expect(branch.body).toMatchObject({
      title: 'Elsewhere',
      message_count: 1,
      branched_from: { conversation_id: id, message_id: first.id },
    });
    const missing = await ada('POST', `${root}/${id}/branch`, { body: { message_id: 'msg_x' } });
    expect([missing.status, missing.body.code]).toEqual([404, 'MESSAGE_NOT_FOUND']);
  });
});

describe('a session cookie', () => {
  const cookieOf = (headers: Headers) => headers.get('set-cookie') ?? '';
  const nobody: Caller = (...args) => caller(chat.url)(...args);

  test.each([
    ['nothing', {}, 401],
    ['rubbish', { token: 'a.b.c' }, 401],
    ['a word', { token: 'secret' }, 401],
    ['an API key', { token: 'enn_key' }, 400],
    ['a token that no cookie holds', { token: `a.${'b'.repeat(5_000)}.c` }, 400],
  ])('is not given for %s', async (_what, body, status) => {
    const answer = await nobody('POST', '/api/session', { body });
    expect(answer.status).toBe(status);
    expect(cookieOf(answer.headers)).toBe('');
  });

  test('is given for a token, in the body or behind Bearer, for as long as that has left', async () => {
    const token = await chat.tokenOf('usr_ada');
    const answers = [
      await nobody('POST', '/api/session', { body: { token } }),
      await caller(chat.url, token)('POST', '/api/session'),
    ];
    for (const { status, headers, body } of answers) {
      expect(status).toBe(200);
      expect(body).toEqual({ success: true, expires_at: expect.any(String) });
      const [, value, maxAge] =
        /^session=([^;]+); Path=\/; HttpOnly; SameSite=Lax; Max-Age=(\d+)$/.exec(
          cookieOf(headers),
        ) ?? [];
      expect(value).toBe(token);
      const leftMs = Date.parse(body.expires_at) - Date.now();
      expect(Math.abs(Number(maxAge) * 1000 - leftMs)).toBeLessThan(2_000);
    }
  });

  test('counts as its token, and writes from the same origin only', async () => {
    const cookie = `session=${await chat.tokenOf('usr_ada')}`;
    const id = await create({ title: 'By token' });
    expect((await nobody('GET', `${root}/${id}`, { headers: { cookie } })).status).toBe(200);
    const from = (origin?: string) =>
      nobody('POST', root, {
        body: { title: 'By cookie' },
        headers: { cookie, ...(origin === undefined ? {} : { origin }) },
      });
    expect((await from()).status).toBe(403);
    expect((await from('https://evil.example')).body.code).toBe('ORIGIN_REFUSED');
    expect((await from(chat.url)).status).toBe(201);
  });

  test('is cleared', async () => {
    const { status, headers } = await nobody('DELETE', '/api/session');
    expect(status).toBe(200);
    expect(cookieOf(headers)).toBe('session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0');
  });
});

const ask = (content: string) => [{ role: 'user', content }];

interface Frame {
  readonly event: string;
  readonly data: ReadJson;
}

/** What a tab is told, up to the end of an answer. */
async function hearAnswer(tab: TestClient): Promise<Frame[]> {
  const heard: Frame[] = [];
  for (;;) {
    const frame = (await tab.next()) as Frame;
    heard.push(frame);
    if (frame.event === 'chat_response' && frame.data.finished) return heard;
  }
}

async function openTab({ url }: RunningChat, subject: string): Promise<TestClient> {
  const authorization = `Bearer ${await chat.tokenOf(subject)}`;
  return new TestClient(`${url}/ws`, { headers: { authorization } }).opened();
}

describe('what happens in a conversation', () => {
  test('is stored, named, and told to every tab of its owner on every replica', async () => {
    gateway.script(says(['Good', ' day', '!']));
    const tabs = [await openTab(chat, 'usr_ada'), await openTab(two, 'usr_ada')];
    const stranger = await openTab(two, 'usr_bob');
    const heard = tabs.map(hearAnswer);
    const id = await create();
    const body = { conversation_id: id, messages: ask('Greet me') };
    const { status, body: answer } = await ada('POST', '/api/chat/completions', { body });
    expect([status, answer.object]).toEqual([200, 'chat.completion']);
    expect(answer).toMatchObject({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Good day!' } }],
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    });
    expect((await adaElsewhere('GET', `/api/conversations/${id}`)).body).toMatchObject({
      title: 'Greet me',
      total_tokens: 13,
      messages: [
        { role: 'user', content: 'Greet me', status: 'complete' },
        { role: 'assistant', content: 'Good day!', status: 'complete', model: expect.any(String) },
      ],
    });
    for (const frames of await Promise.all(heard)) {
      const tokens = frames.filter(({ event }) => event === 'chat_response');
      expect(tokens.map(({ data }) => data.token).join('')).toBe('Good day!');
      expect(frames.map(({ event }) => event)).toEqual(
        expect.arrayContaining(['conversation', 'message']),
      );
    }
    stranger.send({ event: 'nonsense' });
    expect(await stranger.next()).toMatchObject({ event: 'error', data: { event: 'nonsense' } });
    for (const tab of [...tabs, stranger]) tab.socket.close();
  });

  test('is the same over GraphQL', async () => {
    gateway.script(says(['Forty', '-two']));
    const graphql = async (query: string, variables: unknown) =>
      (await adaElsewhere('POST', '/graphql', { body: { query, variables } })).body;
    const id = await create();
    const sent = await graphql(
      'mutation ($input: MessageInput!) { sendMessage(input: $input) { content status } }',
      { input: { conversationId: id, content: 'How many?' } },
    );
    expect(sent).toEqual({ data: { sendMessage: { content: 'Forty-two', status: 'complete' } } });
    const read = '{ conversations(limit: 1) { id title messageCount messages { role content } } }';
    expect(await graphql(read, {})).toEqual({
      data: {
        conversations: [
          {
            id,
            title: 'How many?',
            messageCount: 2,
            messages: [
              { role: 'user', content: 'How many?' },
              { role: 'assistant', content: 'Forty-two' },
            ],
          },
        ],
      },
    });
  });

  test('is found by its words at once', async () => {
    gateway.script(says(['Photosynthesis.']));
    const id = await create();
    const body = { conversation_id: id, messages: ask('What do leaves do?') };
    await ada('POST', '/api/chat/completions', { body });
    const found = await adaElsewhere('POST', '/api/search', { body: { query: 'photosynthesis' } });
    expect(found.body).toMatchObject({
      results: [{ content: 'Photosynthesis.', conversation_id: id, score: expect.any(Number) }],
      total: 1,
      query_time_ms: expect.any(Number),
    });
    const foreign = await chat.callAs('usr_bob');
    const none = await foreign('POST', '/api/search', { body: { query: 'photosynthesis' } });
    expect(none.body).toMatchObject({ results: [], total: 0 });
  });

  test('that a provider breaks off is told, and what was written is kept', async () => {
    gateway.script(saysThen(['Half an'], 'fail'));
    const id = await create();
    const body = { conversation_id: id, messages: ask('Well?'), stream: true };
    const { text } = await ada('POST', '/api/chat/completions', { body });
    expect(text).toContain('"error"');
    expect(text).not.toContain('[DONE]');
    expect((await adaElsewhere('GET', `/api/conversations/${id}`)).body.messages[1]).toMatchObject({
      content: 'Half an',
      status: 'interrupted',
    });
  });

  test('ends when the conversation is deleted on another replica', async () => {
    let asked: AbortSignal | undefined;
    gateway.script(({ signal }, answer) => {
      asked = signal;
      answer.say('For ever');
    });
    const id = await create();
    const body = { conversation_id: id, messages: ask('How long?'), stream: true };
    const answering = ada('POST', '/api/chat/completions', { body });
    await expect.poll(() => asked).toBeDefined();
    expect((await adaElsewhere('DELETE', `/api/conversations/${id}`)).status).toBe(200);
    await expect.poll(() => asked?.aborted).toBe(true);
    expect((await answering).text).not.toContain('internal');
    expect((await ada('GET', `/api/conversations/${id}`)).status).toBe(404);
  });
});

test('a tool that nobody allowed is not offered, and rules for it need the permission', async () => {
  gateway.script(says(['Fine.']));
  const id = await create();
  const rules = { allow: ['files__read'] };
  const refused = await ada('PATCH', `/api/conversations/${id}`, { body: { tools: rules } });
  expect([refused.status, refused.body.code]).toEqual([403, 'INSUFFICIENT_PERMISSIONS']);
  await ada('POST', '/api/chat/completions', {
    body: { conversation_id: id, messages: ask('Read it') },
  });
  expect(gateway.asked.at(-1)?.body).not.toHaveProperty('tools');
});

test('every endpoint that the service names answers', async () => {
  const { body } = await ada('GET', '/api/info');
  expect(Object.keys(body.endpoints)).toEqual(
    expect.arrayContaining(['health', 'chat', 'search', 'agents', 'voice']),
  );
  for (const path of Object.values<string>(body.endpoints)) {
    const answers = await Promise.all(['GET', 'POST'].map((method) => ada(method, path)));
    expect([path, answers.some(({ status }) => status !== 404)]).toEqual([path, true]);
  }
});

describe('the schema of GraphQL', () => {
  const body = { query: '{ __schema { queryType { name } } }' };

  test('is shown to administrators alone in production', async () => {
    const environment = { NODE_ENV: 'production' };
    await using closed = await startChat({ ground, environment });
    const asked = await (await closed.callAs('usr_ada'))('POST', '/graphql', { body });
    expect(asked.body.errors[0].extensions.code).toBe('INSUFFICIENT_PERMISSIONS');
    const admin = await closed.callAs('usr_admin', ['chat:admin']);
    expect((await admin('POST', '/graphql', { body })).body.data).toBeTruthy();
  });
});

describe('a spoken command', () => {
  const say = (who: Caller, transcription: string, session?: string) => {
    const body = { transcription, confidence: 1, ...(session && { session_id: session }) };
    return who('POST', '/api/voice/command', { body });
  };

  test('is confirmed on any replica, once, and by nobody else', async () => {
    const id = await create({ title: 'zebra' });
    const asked = await say(ada, 'delete the conversation zebra');
    expect(asked.body).toMatchObject({ action: 'confirm_delete_conversation' });
    const session: string = asked.body.session_id;
    expect((await say(bob, 'yes', session)).body.action).toBe('clarify');
    expect((await say(adaElsewhere, 'yes', session)).body.action).toBe('delete_conversation');
    expect((await ada('GET', `${root}/${id}`)).status).toBe(404);
    expect((await say(ada, 'yes', session)).body.action).toBe('clarify');
  });
});
