import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { caller, openChatGround, type ChatGround } from '../testing.ts';
import { startGraphql, type RunningGraphql } from './testing.ts';

const owner = 'usr_large';
/** Of which JSON makes six bytes. */
const megabyte = '\u0001'.repeat(1024 * 1024);
let ground: ChatGround;
let running: RunningGraphql;
let token: string;
let id: string;

beforeAll(async () => {
  ground = await openChatGround();
  running = await startGraphql(ground);
  token = await running.tokenOf(owner);
  ({ id } = await running.conversations.create(owner));
  const messages = await running.conversations.append(owner, id, [
    { role: 'user', content: megabyte },
    { role: 'user', content: 'short' },
  ]);
  running.others.remember(...messages);
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

async function post(body: unknown) {
  const answer = await caller(running.url, token)('POST', '', { body });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** A field under so many names, with arguments that may differ. */
function aliases(count: number, field: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => `a${at}: ${field(at)}`).join(' ');
}

/** Asks for the megabyte so often. */
function repeated(count: number): string {
  const pages = aliases(count, () => 'messages(limit: 1) { content }');
  return `{ conversation(id: "${id}") { ${pages} } }`;
}

const tooLarge = {
  data: null,
  errors: [{ extensions: { code: 'ANSWER_TOO_LARGE' } }],
};

describe('an answer of more than 16 MiB of JSON is refused', () => {
  test('that repeats one message under many names, and one of less is not', async () => {
    const { data } = await post({ query: repeated(2) });
    expect(data.conversation.a1[0].content === megabyte).toBe(true);
    expect(await post({ query: repeated(3) })).toMatchObject(tooLarge);
    expect(await post({ query: repeated(15) })).toMatchObject(tooLarge);
  });

  test('that repeats what a search finds', async () => {
    const search = 'searchConversations(query: "\\u0001") { messages { content } }';
    const one = await post({ query: `{ ${search} }` });
    expect(one.data.searchConversations[0].messages).toHaveLength(1);
    expect(await post({ query: `{ ${aliases(5, () => search)} }` })).toMatchObject(tooLarge);
  });

  test('also where several operations of a request make it together', async () => {
    const [first, second] = await post([{ query: repeated(2) }, { query: repeated(2) }]);
    const refused = first.data === null ? first : second;
    expect(refused).toMatchObject(tooLarge);
    expect((refused === first ? second : first).data).toHaveProperty('conversation');
  });

  test('over a WebSocket, of which each operation counts for itself', async () => {
    const client = createClient({
      url: running.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { token },
    });
    const ask = async (query: string) => (await client.iterate({ query }).next()).value;
    expect(await ask(repeated(2))).toHaveProperty('data.conversation');
    expect(await ask(repeated(2))).toHaveProperty('data.conversation');
    expect(await ask(repeated(3))).toMatchObject(tooLarge);
    await client.dispose();
  });
});

test('no more than 16 MiB of texts are read, however little of them is asked for', async () => {
  const { id: long } = await running.conversations.create(owner);
  const pieces = [1, 2].map(() => ({ role: 'user' as const, content: 'x'.repeat(900_000) }));
  await running.conversations.append(owner, long, pieces);
  const ask = (count: number) => {
    const pages = aliases(count, (at) => `messages(limit: ${at + 2}) { id }`);
    return post({ query: `{ conversation(id: "${long}") { ${pages} } }` });
  };
  expect((await ask(9)).data.conversation.a8).toHaveLength(2);
  expect(await ask(10)).toMatchObject(tooLarge);
});

test('one request searches five times at most', async () => {
  const search = (at: number) => `searchConversations(query: "none ${at}") { id }`;
  expect((await post({ query: `{ ${aliases(5, search)} }` })).data.a4).toEqual([]);
  const { errors } = await post({ query: `{ ${aliases(6, search)} }` });
  expect(errors[0].extensions.code).toBe('TOO_MANY_SEARCHES');
});
