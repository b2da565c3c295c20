import { createClient, type Client } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { caller, openChatGround, type ChatGround } from '../testing.ts';
import type { StreamToken } from './message-stream.ts';
import { startGraphql, type RunningGraphql } from './testing.ts';

let ground: ChatGround;
let running: RunningGraphql;

beforeAll(async () => {
  ground = await openChatGround();
  running = await startGraphql(ground);
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const owner = 'usr_stream';
const subprotocol = 'graphql-transport-ws';
const tokensQuery = `subscription ($id: ID!, $after: String) {
  messageStream(conversationId: $id, after: $after) {
    id token finished model cursor finishReason error { code } toolCall { name needsApproval } } }`;

interface ClientOptions {
  readonly url?: string;
  readonly params?: Record<string, unknown>;
  /** Of the handshake. */
  readonly headers?: Record<string, string>;
  readonly onClosed?: (code: number) => void;
}

function clientOf({ url = running.url, params, headers = {}, onClosed }: ClientOptions): Client {
  class Socket extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { headers });
    }
  }
  return createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl: Socket,
    retryAttempts: 0,
    ...(params ? { connectionParams: params } : {}),
    on: { closed: (event) => onClosed?.((event as { code: number }).code) },
  });
}

async function clientAs(subject: string, url?: string): Promise<Client> {
  const params = { authorization: `Bearer ${await running.tokenOf(subject)}` };
  return clientOf(url === undefined ? { params } : { params, url });
}

/** The only answer to an operation. */
async function answerOf(client: Client, query: string) {
  const { value } = await client.iterate({ query }).next();
  return value;
}

interface Collected<Value> {
  readonly got: readonly Value[];
  readonly errors: readonly unknown[];
  readonly stop: () => void;
}

/** Reads a subscription into a list. */
function collect<Value>(
  client: Client,
  query: string,
  variables: Record<string, unknown>,
): Collected<Value> {
  const got: Value[] = [];
  const errors: unknown[] = [];
  const stop = client.subscribe<Record<string, Value>>(
    { query, variables },
    {
      next: ({ data, errors: found }) => {
        for (const value of Object.values(data ?? {})) got.push(value);
        if (found) errors.push(...found);
      },
      error: (error) => errors.push(...(Array.isArray(error) ? error : [error])),
      complete: () => {},
    },
  );
  return { got, errors, stop };
}

/** Whoever has gone is forgotten a moment later. */
function noneListens() {
  return expect.poll(() => running.turns.listeners.size).toBe(0);
}

/** A conversation in which a turn runs. */
async function beginTurn(graphql = running) {
  const { id } = await graphql.conversations.create(owner);
  return { id, turn: await begin(id, graphql) };
}

function begin(conversationId: string, graphql = running) {
  const identity = { subject: owner } as never;
  return graphql.turns.begin({
    caller: { identity, credential: 'x' },
    conversationId,
    messages: [{ role: 'user', content: 'Hi' }],
    model: 'm',
  });
}

function textOf(tokens: readonly StreamToken[]): string {
  return tokens.map(({ token }) => token).join('');
}

describe('over a WebSocket', () => {
  test('queries and mutations are answered as over HTTP', async () => {
    const client = await clientAs('usr_ws');
    const made = await answerOf(client, 'mutation { createConversation(title: "T") { title } }');
    expect(made?.data).toEqual({ createConversation: { title: 'T' } });
    const found = await answerOf(client, '{ conversation(id: "x") { id } }');
    expect(found?.errors?.[0]?.extensions).toMatchObject({ code: 'CONVERSATION_NOT_FOUND' });
    const refused = collect(client, '{ conversation { nothing } }', {});
    await expect.poll(() => refused.errors.length).toBeGreaterThan(0);
    const unparsed = collect(client, '{', {});
    await expect.poll(() => unparsed.errors.length).toBe(1);
    const unnamed = collect(client, 'query A { __typename } query B { __typename }', {});
    await expect
      .poll(() => unnamed.errors)
      .toMatchObject([{ extensions: { code: 'VALIDATION_ERROR' } }]);
    await client.dispose();
  });

  test('a bad document is refused in the same words as over HTTP', async () => {
    const query = '{ thereIsNone }';
    const call = caller(running.url, await running.tokenOf(owner));
    const { errors } = (await call('POST', '', { body: { query } })).body;
    const client = await clientAs(owner);
    await expect(answerOf(client, query)).rejects.toEqual(errors);
    await client.dispose();
  });

  test('the token may stand where Socket.IO has it', async () => {
    const client = clientOf({ params: { auth: { token: await running.tokenOf(owner) } } });
    expect(await answerOf(client, '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
    await client.dispose();
  });

  test('an answer comes token by token, and the next one too', async () => {
    const { id, turn } = await beginTurn();
    const client = await clientAs(owner);
    running.turns.say(turn.id, 'One ');
    const { got, stop } = collect<StreamToken>(client, tokensQuery, { id });
    await expect.poll(() => textOf(got)).toBe('One ');
    running.turns.say(turn.id, 'two ', 'three');
    await running.turns.finish(turn.id);
    await expect.poll(() => got.at(-1)?.finished).toBe(true);
    expect(textOf(got)).toBe('One two three');
    expect(got.at(-1)).toMatchObject({
      id: turn.messageId,
      token: '',
      model: 'm',
      finishReason: 'stop',
    });
    const next = await begin(id);
    running.turns.say(next.id, 'More');
    running.turns.tell(next.id, {
      type: 'tool-call',
      call: { id: 'call_1', name: 'files__read', arguments: '{}' },
      needsApproval: true,
    });
    running.turns.tell(next.id, { type: 'failed', code: 'PROVIDER_ERROR', message: 'away' });
    await expect.poll(() => got.at(-1)?.error).toEqual({ code: 'PROVIDER_ERROR' });
    expect(got.slice(-3)).toMatchObject([
      { id: next.messageId, token: 'More', finished: false, toolCall: null },
      { token: '', finished: false, toolCall: { name: 'files__read', needsApproval: true } },
      { token: '', finished: true, finishReason: null },
    ]);
    stop();
    await client.dispose();
  });

  test('an answer goes on behind any cursor without a gap or a repetition', async () => {
    const { id, turn } = await beginTurn();
    const client = await clientAs(owner);
    running.turns.say(turn.id, 'a', 'b', 'c');
    const first = collect<StreamToken>(client, tokensQuery, { id });
    await expect.poll(() => textOf(first.got)).toBe('abc');
    running.turns.say(turn.id, 'd', 'e');
    await running.turns.finish(turn.id);
    await expect.poll(() => first.got.at(-1)?.finished).toBe(true);
    for (const [at, { cursor }] of first.got.slice(0, -1).entries()) {
      const again = collect<StreamToken>(client, tokensQuery, { id, after: cursor });
      await expect.poll(() => again.got.at(-1)?.finished).toBe(true);
      expect(textOf(again.got)).toBe(textOf(first.got.slice(at + 1)));
    }
    const strange = collect<StreamToken>(client, tokensQuery, { id, after: 'nowhere' });
    await expect
      .poll(() => strange.errors)
      .toMatchObject([{ extensions: { code: 'VALIDATION_ERROR' } }]);
    await client.dispose();
  });

  test('an answer comes also from another replica', async () => {
    await using other = await startGraphql(ground, { world: running.world });
    const { id, turn } = await beginTurn();
    const client = await clientAs(owner, other.url);
    running.turns.say(turn.id, 'from ');
    const { got } = collect<StreamToken>(client, tokensQuery, { id });
    await expect.poll(() => textOf(got)).toBe('from ');
    running.turns.say(turn.id, 'afar');
    await running.turns.finish(turn.id);
    await expect.poll(() => textOf(got)).toBe('from afar');
    await client.dispose();
  });

  test("nobody hears another's conversation, nor of another's agents' tasks", async () => {
    const { id, turn } = await beginTurn();
    const client = await clientAs('usr_stranger');
    const refused = collect(client, tokensQuery, { id });
    await expect
      .poll(() => refused.errors)
      .toMatchObject([{ extensions: { code: 'CONVERSATION_NOT_FOUND' } }]);
    const progress =
      'subscription ($id: ID!) { agentProgress(agentId: $id) { agentId taskId progress status message } }';
    const unknown = collect(client, progress, { id: 'agt_b' });
    await expect
      .poll(() => unknown.errors)
      .toMatchObject([{ extensions: { code: 'AGENT_NOT_FOUND' } }]);
    const heard = collect<{ taskId: string }>(client, progress, { id: 'agt_a' });
    await expect.poll(() => running.others.progressListeners.size).toBe(1);
    for (const listener of running.others.progressListeners) {
      const told = { progress: 0.5, status: 'running', message: 'half' } as const;
      listener({ ...told, agentId: 'agt_b', taskId: 'another agent' });
      listener({ ...told, agentId: 'agt_a', taskId: 'of another', ownerId: owner });
      listener({ ...told, agentId: 'agt_a', taskId: 'of all' });
      listener({ ...told, agentId: 'agt_a', taskId: 'own', ownerId: 'usr_stranger' });
    }
    await expect.poll(() => heard.got.length).toBe(2);
    expect(heard.got).toEqual([
      { agentId: 'agt_a', taskId: 'of all', progress: 0.5, status: 'running', message: 'half' },
      { agentId: 'agt_a', taskId: 'own', progress: 0.5, status: 'running', message: 'half' },
    ]);
    await running.turns.finish(turn.id);
    await client.dispose();
    await expect.poll(() => running.others.progressListeners.size).toBe(0);
  });

  test('nothing is left of who unsubscribes or hangs up', async () => {
    const { id, turn } = await beginTurn();
    await noneListens();
    const client = await clientAs(owner);
    const first = collect<StreamToken>(client, tokensQuery, { id });
    const second = collect<StreamToken>(client, tokensQuery, { id });
    running.turns.say(turn.id, 'x');
    await expect.poll(() => first.got.length + second.got.length).toBe(2);
    expect(running.turns.listeners.size).toBe(4);
    first.stop();
    await expect.poll(() => running.turns.listeners.size).toBe(2);
    client.terminate();
    await noneListens();
    await running.turns.finish(turn.id);
    await client.dispose();
  });
});

describe('a WebSocket', () => {
  async function closeCodeOf(options: ClientOptions): Promise<number> {
    return await new Promise((resolve) => {
      const client = clientOf({ ...options, onClosed: resolve });
      client.subscribe(
        { query: '{ __typename }' },
        { next: () => {}, error: () => {}, complete: () => {} },
      );
    });
  }

  test.each([
    ['without a token', {}, 4401],
    ['with a token that is none', { params: { token: 'a.b.c' } }, 4401],
    ['with a malformed authorization', { params: { authorization: 'Basic x' } }, 4401],
    ['with a bad token in its handshake', { headers: { authorization: 'Bearer a.b.c' } }, 4401],
    [
      'with a cookie from elsewhere',
      { headers: { cookie: 'session=a.b.c', origin: 'https://x.example' } },
      4403,
    ],
  ])('%s is closed', async (_name, options, code) => {
    expect(await closeCodeOf(options)).toBe(code);
  });

  test.each([
    ['in connectionParams', (token: string) => ({ params: { token } })],
    [
      'in connectionParams, as a header',
      (token: string) => ({ params: { Authorization: `Bearer ${token}` } }),
    ],
    ['in its handshake', (token: string) => ({ headers: { authorization: `Bearer ${token}` } })],
    ['in its address', (token: string) => ({ url: `${running.url}?access_token=${token}` })],
    [
      'in a cookie from the same origin',
      (token: string) => ({
        headers: { cookie: `session=${token}`, origin: new URL(running.url).origin },
      }),
    ],
  ])('is let in with a token %s', async (_name, optionsOf) => {
    const client = clientOf(optionsOf(await running.tokenOf('usr_ws')));
    const answer = await answerOf(client, '{ __typename }');
    expect(answer?.data).toEqual({ __typename: 'Query' });
    await client.dispose();
  });

  test('that speaks too early, or no GraphQL at all, is closed', async () => {
    const open = (protocols: string[]) =>
      new Promise<{ socket: WebSocket; closed: Promise<number> }>((resolve) => {
        const socket = new WebSocket(running.url.replace(/^http/, 'ws'), protocols);
        const closed = new Promise<number>((told) => socket.once('close', told));
        socket.on('error', () => {});
        socket.once('open', () => resolve({ socket, closed }));
        socket.once('close', () => resolve({ socket, closed }));
      });
    const subscribe = { id: '1', type: 'subscribe', payload: { query: '{ __typename }' } };
    const eager = await open([subprotocol]);
    eager.socket.send(JSON.stringify(subscribe));
    expect(await eager.closed).toBe(4401);
    for (const text of [
      'nonsense',
      '[]',
      '{"type":"nothing"}',
      '{"type":"connection_init","payload":{"a":"\\u0000"}}',
    ]) {
      const strange = await open([subprotocol]);
      strange.socket.send(text);
      expect(await strange.closed).toBe(4400);
    }
    const other = await open([]);
    expect([1006, 4406]).toContain(await other.closed);
  });

  test('is closed within a second after its token was revoked', async () => {
    const token = await running.tokenOf('usr_revoked');
    const closed = new Promise<number>((resolve) => {
      const client = clientOf({ params: { token }, onClosed: resolve });
      client.subscribe(
        { query: 'subscription { agentProgress(agentId: "agt_a") { taskId } }' },
        { next: () => {}, error: () => {}, complete: () => {} },
      );
    });
    await expect.poll(() => running.others.progressListeners.size).toBe(1);
    const { jti } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
    const at = Math.floor(Date.now() / 1000);
    ground.issuer.revocations.add({ kind: 'token', id: jti, revokedAt: at, expiresAt: at + 3600 });
    const startMs = performance.now();
    expect(await closed).toBe(4401);
    expect(performance.now() - startMs).toBeLessThan(2_000);
    await expect.poll(() => running.others.progressListeners.size).toBe(0);
  });

  test('runs at most 32 operations at once', async () => {
    const client = await clientAs(owner);
    const { id } = await running.conversations.create(owner);
    const all = Array.from({ length: 33 }, () => collect(client, tokensQuery, { id }));
    await expect
      .poll(() => all.flatMap(({ errors }) => errors))
      .toMatchObject([{ extensions: { code: 'TOO_MANY_OPERATIONS' } }]);
    await client.dispose();
  });
});

describe('over server-sent events', () => {
  async function listen(
    query: string,
    variables: Record<string, unknown>,
    method: 'GET' | 'POST',
    url = running.url,
  ) {
    const leaving = new AbortController();
    const token = await running.tokenOf(owner);
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) });
    const response = await (method === 'GET'
      ? fetch(`${url}?${parameters}`, { headers, signal: leaving.signal })
      : fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ query, variables }),
          signal: leaving.signal,
        }));
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    return { response, text: () => text, leave: () => leaving.abort(), reading };
  }

  test.each(['GET', 'POST'] as const)('an answer comes token by token (%s)', async (method) => {
    const { id, turn } = await beginTurn();
    await noneListens();
    const { response, text, leave, reading } = await listen(tokensQuery, { id }, method);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    running.turns.say(turn.id, 'Hello');
    await expect.poll(text).toContain('event: next\ndata: {"data":{"messageStream":');
    expect(text()).toContain('"token":"Hello"');
    leave();
    await reading;
    await noneListens();
    await running.turns.finish(turn.id);
  });

  test('an answer that the service gives up ends with an error', async () => {
    await using stopping = await startGraphql(ground, { world: running.world });
    const { id, turn } = await beginTurn();
    const { text, reading } = await listen(tokensQuery, { id }, 'POST', stopping.url);
    running.turns.say(turn.id, 'so far');
    await expect.poll(text).toContain('"token":"so far"');
    await stopping[Symbol.asyncDispose]();
    await reading;
    expect(text()).toMatch(/"errors":\[.*"UNAVAILABLE".*\n\n[:\n]*event: complete\n/);
    await noneListens();
    await running.turns.finish(turn.id);
  });

  test("the refusal of another's conversation is an answer, of an unknown field a bad request", async () => {
    const { id } = await running.conversations.create('somebody else');
    const refused = await listen(tokensQuery, { id }, 'POST');
    await refused.reading;
    expect(refused.text()).toContain('CONVERSATION_NOT_FOUND');
    expect(refused.response.status).toBe(200);
    expect((await listen('subscription { nothing }', {}, 'POST')).response.status).toBe(400);
  });

  test('a query is answered once', async () => {
    const { text, reading } = await listen('{ __typename }', {}, 'POST');
    await reading;
    expect(text()).toContain(
      'event: next\ndata: {"data":{"__typename":"Query"}}\n\nevent: complete\n',
    );
  });

  test('a subscription is not answered as JSON', async () => {
    const call = caller(running.url, await running.tokenOf(owner));
    const { id } = await running.conversations.create(owner);
    const body = { query: tokensQuery, variables: { id } };
    await noneListens();
    const { status } = await call('POST', '', { body, headers: { accept: 'application/json' } });
    expect(status).toBe(400);
    await noneListens();
  });
});
