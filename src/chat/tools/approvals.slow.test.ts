import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openTestTables } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { listenAnywhere, silentLog, startService } from '../../kit/testing.ts';
import { registry } from '../../registry/service.ts';
import {
  caller,
  calls,
  openChatGround,
  says,
  startChat,
  startScriptedGateway,
  type Caller,
  type RunningChat,
  type ScriptedGateway,
} from '../testing.ts';
import { startEverything } from './testing.ts';

const lifetime = new Lifetime(silentLog);
let chat: RunningChat;
let gateway: ScriptedGateway;
let ask: Caller;
let conversationId: string;

const echo = 'every__echo';
const toggle = 'every__toggle-simulated-logging';

beforeAll(async () => {
  const everything = lifetime.own('the server', await startEverything());
  const ground = lifetime.own('the ground', await openChatGround());
  const database = lifetime.own('tables', await openTestTables('registry', registry.migrations));
  const { issuer } = ground;
  const running = lifetime.own('the registry', await startService(registry, { database, issuer }));
  const url = await listenAnywhere(running.host.http);
  gateway = lifetime.own('the gateway', await startScriptedGateway());
  const peers = { gateway: gateway.url, registry: url };
  chat = lifetime.own('chat', await startChat({ ground, peers }));
  const permissions = ['registry:write'];
  const admin = caller(url, await issuer.sign({ sub: 'usr_admin', permissions }));
  const endpoint = { url: everything.url };
  const body = { name: 'every', type: 'server', protocol: 'http', endpoint };
  expect(await admin('POST', '/connections', { body })).toMatchObject({ status: 201 });
  await vi.waitFor(
    async () => {
      const listed = await admin('GET', '/connections');
      expect(listed.body.connections[0].capabilities).toContain('echo');
    },
    { timeout: 20_000 },
  );
  ask = await chat.callAs('usr_one', ['registry:call']);
});

afterAll(() => lifetime[Symbol.asyncDispose]());

beforeEach(async () => {
  const made = await ask('POST', '/api/conversations', { body: { title: 'Tools' } });
  conversationId = made.body.id;
  const allow = { body: { allow: ['every__*'] } };
  const put = await ask('PUT', `/api/conversations/${conversationId}/tools`, allow);
  expect(put).toMatchObject({ status: 200 });
});

function complete(content: string) {
  const messages = [{ role: 'user', content }];
  const body = { conversation_id: conversationId, messages, stream: true };
  return ask('POST', '/api/chat/stream', { body });
}

async function approvals() {
  return (await ask('GET', `/api/conversations/${conversationId}/approvals`)).body;
}

/** What the model was asked last. */
function lastAsked() {
  return gateway.asked.at(-1)?.body.messages ?? [];
}

test('a tool that only reads is called at once, and its result goes to the model', async () => {
  gateway.script(calls(['call_1', echo, { message: 'hey' }]), says(['It said hey.']));
  const { text } = await complete('echo hey');
  expect(text).toContain('It said hey.');
  const messages = lastAsked();
  expect(messages.at(-1)).toMatchObject({
    role: 'tool',
    tool_call_id: 'call_1',
    content: 'Echo: hey',
  });
  expect(await approvals()).toEqual({ approvals: [] });
});

test.each([
  [true, /simulated/i],
  [false, /refused/i],
])('a tool that writes waits for its user, who says %s', async (approved, result) => {
  gateway.script(
    calls(['call_2', toggle, {}], ['call_3', echo, { message: 'x' }]),
    says(['Done.']),
  );
  const streaming = complete('toggle it');
  await vi.waitFor(async () => expect((await approvals()).approvals).toHaveLength(1), 10_000);
  const { turn_id: turnId, approvals: open } = await approvals();
  expect(open).toMatchObject([{ call_id: 'call_2', name: toggle, arguments: '{}' }]);
  const url = `/api/conversations/${conversationId}/approvals`;
  const foreign = await chat.callAs('usr_two', ['*']);
  const body = { turn_id: turnId, answers: [{ call_id: 'call_2', approved }] };
  expect(await foreign('POST', url, { body })).toMatchObject({ status: 404 });
  const wrong = { ...body, answers: [{ call_id: 'call_9', approved: true }] };
  expect(await ask('POST', url, { body: wrong })).toMatchObject({ status: 400 });
  expect(await ask('POST', url, { body })).toMatchObject({ status: 200 });
  expect((await streaming).text).toContain('Done.');
  const messages = lastAsked();
  const answer = messages.find(
    ({ tool_call_id: id }: { readonly tool_call_id?: string }) => id === 'call_2',
  );
  expect(answer.content).toMatch(result);
  expect(await approvals()).toEqual({ approvals: [] });
  expect(await ask('POST', url, { body })).toMatchObject({ status: 409 });
});

test('of several calls those that are not answered yet go on to wait', async () => {
  gateway.script(calls(['call_5', toggle, {}], ['call_6', toggle, {}]), says(['Done.']));
  const streaming = complete('toggle it twice');
  await vi.waitFor(async () => expect((await approvals()).approvals).toHaveLength(2), 10_000);
  const { turn_id: turnId } = await approvals();
  const url = `/api/conversations/${conversationId}/approvals`;
  for (const [callId, status] of [
    ['call_5', 'waiting'],
    ['call_6', 'running'],
  ]) {
    const body = { turn_id: turnId, answers: [{ call_id: callId, approved: true }] };
    expect(await ask('POST', url, { body })).toMatchObject({ status: 200, body: { status } });
    const open = (await approvals()).approvals;
    expect(open).toHaveLength(status === 'waiting' ? 1 : 0);
  }
  expect((await streaming).text).toContain('Done.');
});

test('who speaks is asked, and a yes is enough', async () => {
  // The first question is what the words mean; the model says that they are no command.
  gateway.script(says(['{}']), says(['Hello.']));
  const say = async (transcription: string, session: object = {}) => {
    const body = { transcription, confidence: 1, ...session };
    return (await ask('POST', '/api/voice/command', { body })).body;
  };
  const session = { session_id: 'vse_mine' };
  await say('say hello to the tools', session);
  await say('open conversation tools', session);
  const { body } = await ask('GET', '/api/conversations?limit=100');
  for (const { id, title } of body.conversations) {
    if (title === 'Tools' && id !== conversationId) await ask('DELETE', `/api/conversations/${id}`);
  }
  expect(await say('open conversation tools', session)).toMatchObject({
    conversation_id: conversationId,
  });
  gateway.script(says(['{}']), calls(['call_4', toggle, {}]), says(['It is on.']));
  const asked = await say('Bitte umschalten', session);
  expect(asked).toMatchObject({ action: 'confirm_tool_call' });
  expect(asked.speech).toContain(toggle);
  expect(await say('yes', session)).toMatchObject({ action: 'approve', speech: 'It is on.' });
});
