import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openChatGround,
  says,
  saysThen,
  startChat,
  startScriptedGateway,
  type ChatGround,
  type RunningChat,
  type ScriptedGateway,
} from '../testing.ts';
import {
  connectPlain,
  connectSocketIo,
  type ChannelClient,
  type Frame,
} from './clients-testing.ts';

let gateway: ScriptedGateway;
let ground: ChatGround;
let one: RunningChat;
let two: RunningChat;
let tabs: readonly ChannelClient[];

beforeAll(async () => {
  gateway = await startScriptedGateway();
  ground = await openChatGround();
  const peers = { gateway: gateway.url };
  one = await startChat({ ground, peers });
  two = await startChat({ ground, peers });
  const token = await one.tokenOf('usr_ada');
  tabs = await Promise.all([
    connectSocketIo(one.url, { token }),
    connectPlain(`${two.url}/ws`, token),
    connectSocketIo(two.url, { token, transports: ['polling'] }),
  ]);
});

afterAll(async () => {
  for (const tab of tabs) tab.close();
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

/** All that a tab is told of an answer; pieces may come joined from another replica. */
async function answerOf(tab: ChannelClient): Promise<Frame['data'][]> {
  const told: Frame['data'][] = [];
  while (!told.at(-1)?.finished) told.push(await tab.next('chat_response'));
  return told;
}

const textOf = (told: readonly Frame['data'][]) => told.map(({ token }) => token).join('');

test('an answer comes to every tab on every replica, after the message that asked for it', async () => {
  gateway.script(says(['The ', 'sky ', 'is ', 'blue.']));
  tabs[0]?.send('chat_message', { message: 'What colour is the sky?' });
  const told = await Promise.all(tabs.map(answerOf));
  for (const each of told) {
    expect(textOf(each)).toBe('The sky is blue.');
    expect(each.at(-1)).toEqual(told[0]?.at(-1));
    expect(each.at(-1)).toMatchObject({ finish_reason: 'stop', finished: true });
  }
  for (const tab of tabs) {
    expect(await tab.next('conversation')).toMatchObject({ type: 'created' });
    expect(await tab.next('message')).toMatchObject({
      conversation_id: told[0]?.[0].conversation_id,
      message: { role: 'user', content: 'What colour is the sky?' },
    });
  }
  const ada = await two.callAs('usr_ada');
  const { body } = await ada('GET', `/api/conversations/${told[0]?.[0].conversation_id}`);
  expect(body.messages.at(-1)).toMatchObject({
    id: told[0]?.[0].message_id,
    role: 'assistant',
    content: 'The sky is blue.',
  });
});

test('an answer is stopped from another replica, and read again from there', async () => {
  gateway.script(saysThen(['Once ', 'upon '], 'hang'));
  tabs[0]?.send('chat_message', { message: 'Tell me a story' });
  const first = await tabs[1]?.next('chat_response');
  await expect
    .poll(() => tabs[1]?.frames.map(({ data }) => data.token ?? '').join(''))
    .toMatch(/upon $/);
  tabs[1]?.send('stop', { turn_id: first.id });
  const [own, ...others] = await Promise.all([
    answerOf(tabs[0] as ChannelClient),
    answerOf(tabs[2] as ChannelClient),
  ]);
  for (const each of [own, ...others]) {
    expect(textOf(each ?? [])).toBe('Once upon ');
    expect(each?.at(-1)).toMatchObject({ finished: true, finish_reason: 'stop' });
  }
  await answerOf(tabs[1] as ChannelClient);
  tabs[1]?.send('resume', { turn_id: first.id });
  await tabs[1]?.next('resumed');
  expect(textOf(await answerOf(tabs[1] as ChannelClient))).toBe('Once upon ');
});

test('a message that the gateway refuses is told as the end of its turn or as a refusal', async () => {
  gateway.script((_asked, answer) =>
    answer.refuse(404, 'model_not_found', 'there is no such model'),
  );
  const [tab] = tabs;
  tab?.send('chat_message', { message: 'hello', model: 'nowhere' });
  await expect
    .poll(() => tab?.frames.some(({ event, data }) => event === 'error' || data.error))
    .toBeTruthy();
  const told = tab?.frames.find(({ event, data }) => event === 'error' || data.error);
  expect(told?.data.code ?? told?.data.error.code).toBe('MODEL_NOT_FOUND');
});
