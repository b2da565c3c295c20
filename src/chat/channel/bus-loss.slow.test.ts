import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { findNatsServer, startNatsServer } from '../../kit/bus/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import {
  calls,
  openChatGround,
  says,
  startChat,
  startScriptedGateway,
  type ChatGround,
  type ScriptedGateway,
} from '../testing.ts';
import { connectPlain, connectSocketIo } from './clients-testing.ts';

const program = findNatsServer(process.env.ENNEAD_TEST_NATS_SERVER) ?? '';
const lost = { from: 0, to: 0 };
let gateway: ScriptedGateway;
let ground: ChatGround;

beforeAll(async () => {
  gateway = await startScriptedGateway();
  ground = await openChatGround();
});

afterAll(async () => {
  await ground[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const start = (bus = ground.bus) =>
  startChat({ ground: { ...ground, bus }, peers: { gateway: gateway.url } });

test('a tab on another replica is told that it missed what the bus does not take', async () => {
  await using one = await start();
  await using two = await start();
  const tab = await connectPlain(`${two.url}/ws`, await two.tokenOf('usr_ada'));
  gateway.script(calls(['c1', 'draw', { picture: 'x'.repeat(700_000) }]));
  const ada = await one.callAs('usr_ada');
  const { id } = (await ada('POST', '/api/conversations', { body: {} })).body;
  const { status } = await ada('POST', '/api/chat/completions', {
    body: {
      conversation_id: id,
      messages: [{ role: 'user', content: 'draw' }],
      tools: [{ type: 'function', function: { name: 'draw', parameters: { type: 'object' } } }],
    },
  });
  expect(status).toBe(200);
  expect(await tab.next('gap')).toEqual(lost);
  expect(tab.frames.some(({ event }) => event === 'tool_call')).toBe(false);
  tab.close();
});

test.skipIf(!program)(
  'a tab on another replica is told that it missed something while the bus was away',
  async () => {
    await using lifetime = new Lifetime(silentLog);
    const nats = lifetime.own('nats', await startNatsServer(program));
    const openNats = async () =>
      lifetime.own('a bus', await openBus({ url: nats.url, log: silentLog }));
    const [bus, otherBus] = [await openNats(), await openNats()];
    const one = lifetime.own('one', await start(bus));
    const two = lifetime.own('the other', await start(otherBus));
    const token = await one.tokenOf('usr_ada');
    const near = await connectSocketIo(one.url, { token });
    const far = await connectPlain(`${two.url}/ws`, token);
    await nats.kill();
    gateway.script(says(['Nobody ', 'hears.']));
    near.send('chat_message', { message: 'hello' });
    while (!(await near.next('chat_response')).finished);
    // What came before it is given up by then.
    await expect(bus.topic('test').publish(1)).rejects.toMatchObject({ code: 'unavailable' });
    await nats.restart();
    expect(await far.next('gap')).toEqual(lost);
    near.close();
    far.close();
  },
  60_000,
);
