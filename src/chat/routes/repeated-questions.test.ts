import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPlain } from '../channel/clients-testing.ts';
import {
  openChatGround,
  says,
  startChat,
  startScriptedGateway,
  type Caller,
  type ChatGround,
  type RunningChat,
  type ScriptedGateway,
} from '../testing.ts';

let gateway: ScriptedGateway;
let ground: ChatGround;
let chat: RunningChat;
let ada: Caller;

beforeAll(async () => {
  gateway = await startScriptedGateway(says(['Hello.']));
  gateway.answer('GET /api/v1/providers', { providers: [] });
  ground = await openChatGround();
  chat = await startChat({ ground, peers: { gateway: gateway.url } });
  ada = await chat.callAs('usr_ada');
});

afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const ask = (key: string) =>
  ada('POST', '/api/chat/completions', {
    body: { messages: [{ role: 'user', content: 'hi' }] },
    headers: { 'idempotency-key': key },
  });

test('a key that is none is refused', async () => {
  for (const key of ['', 'two words', 'x'.repeat(256)]) {
    const { status, body } = await ask(key);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  }
});

test('a question with the same Idempotency-Key is asked once and answered alike', async () => {
  const [first, again] = [await ask('k1'), await ask('k1')];
  expect(first).toMatchObject({ status: 200 });
  expect(again.body).toEqual(first.body);
  expect(gateway.asked).toHaveLength(1);
  expect((await ask('k2')).body.id).not.toBe(first.body.id);
});

const conversationsOf = async (caller: Caller) =>
  (await caller('GET', '/api/conversations')).body.conversations;

test('a mutation with the same idempotencyKey is one question in one new conversation', async () => {
  const eve = await chat.callAs('usr_eve');
  const before = gateway.asked.length;
  const send = async (content: string, idempotencyKey: string) => {
    const query = `mutation ($input: MessageInput!) { sendMessage(input: $input) { id content } }`;
    const body = { query, variables: { input: { content, idempotencyKey } } };
    return (await eve('POST', '/graphql', { body })).body;
  };
  const [first, twin] = await Promise.all([send('hi', 'k1'), send('hi', 'k1')]);
  expect(first.data.sendMessage.content).toBe('Hello.');
  expect([twin, await send('hi', 'k1')]).toEqual([first, first]);
  expect(await conversationsOf(eve)).toMatchObject([{ message_count: 2 }]);
  await send('ho', 'k1');
  expect(await conversationsOf(eve)).toHaveLength(2);
  expect(gateway.asked.length).toBe(before + 2);
  expect((await send('hi', 'two words')).errors[0].extensions.code).toBe('VALIDATION_ERROR');
});

test('a message of a socket with the same idempotency_key is one question', async () => {
  const bob = await chat.callAs('usr_bob');
  const socket = await connectPlain(`${chat.url}/`, await chat.tokenOf('usr_bob'));
  const data = { message: 'hi', idempotency_key: 'k1', stream: false };
  socket.send('chat_message', data);
  const { id, token } = await socket.next('chat_response');
  expect(token).toBe('Hello.');
  socket.send('chat_message', data);
  socket.send('resume', { turn_id: id });
  expect(await socket.next('chat_response')).toMatchObject({ id, token: 'Hello.' });
  expect(await conversationsOf(bob)).toMatchObject([{ message_count: 2 }]);
  socket.close();
});
