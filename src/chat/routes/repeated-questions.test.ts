import { afterAll, beforeAll, expect, test } from 'vitest';
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
