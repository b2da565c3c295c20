import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { calls, says, type Script } from '../gateway-testing.ts';
import type { StoredConversations } from '../conversations/stored-conversations.ts';
import type { StoredTurns } from './stored-turns.ts';
import { ask, callerOf, openTwoReplicas, readAll } from './testing.ts';
import type { TurnEvent } from './turn.ts';

const ada = 'usr_ada';
const rules = { allow: ['files__*'], approval: 'writes' } as const;
const isEnd = ({ type }: TurnEvent) => type === 'ended' || type === 'failed';

type Scene = Awaited<ReturnType<typeof openTwoReplicas>>;
let scene: Scene;
let ground: Scene['ground'];
let here: Scene['here'];
let there: Scene['there'];
let tools: Scene['script'];
let turns: StoredTurns;
let conversations: StoredConversations;

beforeAll(async () => {
  scene = await openTwoReplicas();
  ({ ground, here, there, script: tools } = scene);
  ({ turns, conversations } = here);
});

afterAll(() => scene[Symbol.asyncDispose]());

beforeEach(() => {
  ground.gateway.script(says(['Hello', ', ', 'Ada', '.']));
  tools.made.length = 0;
});

const open = async (change = {}) => (await conversations.create(ada, change)).id;
const messagesOf = (id: string) => conversations.messages(ada, id);
describe('calls of tools', () => {
  it('are made, and the model goes on with their results', async () => {
    const id = await open({ tools: rules });
    ground.gateway.script(
      calls(['c1', 'read', { f: 'a' }], ['c2', 'read', { f: 'b' }], ['c3', 'nothing', {}]),
      says(['Both read.']),
    );
    const turn = await turns.begin(ask('go', id));
    const events = await readAll(turns, turn.id);
    expect(events.map(({ type }) => type)).toEqual([
      'begun',
      'tool-call',
      'tool-call',
      'tool-call',
      'tool-result',
      'tool-result',
      'tool-result',
      'begun',
      'delta',
      'ended',
    ]);
    expect(events.at(-1)).toMatchObject({
      usage: { promptTokens: 20, completionTokens: 1, totalTokens: 21 },
    });
    expect(tools.made.map(({ id: call }) => call).toSorted()).toEqual(['c1', 'c2']);
    const told = ground.gateway.asked.at(-1)?.body.messages;
    expect(told.slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'c1' }, { id: 'c2' }, { id: 'c3' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'read {"f":"a"}' },
      { role: 'tool', tool_call_id: 'c2', content: 'read {"f":"b"}' },
      { role: 'tool', tool_call_id: 'c3', content: 'There is no tool nothing.' },
    ]);
    expect((await messagesOf(id)).map(({ role, status }) => `${role} ${status}`)).toEqual([
      'user complete',
      'assistant complete',
      'tool complete',
      'tool complete',
      'tool complete',
      'assistant complete',
    ]);
    expect(ground.gateway.asked.at(-1)?.body.tools).toHaveLength(3);
  });

  it('have names of their own where the model gives several the same, or one that is too long', async () => {
    const id = await open({ tools: rules });
    const names = ['same', 'same', 'x'.repeat(10_000), 'x'.repeat(20_000)] as const;
    ground.gateway.script(
      calls(...names.map((name, at) => [name, 'write', { at }] as const)),
      says(['Done.']),
    );
    const turn = await turns.begin(ask('go', id));
    await expect.poll(async () => (await turns.find(ada, turn.id)).status).toBe('waiting');
    const reading = readAll(turns, turn.id);
    const ids = ['same', 'call_1', 'x'.repeat(10_000), 'call_3'];
    const answers = ids.map((callId, at) => ({ callId, isApproved: at === 0 }));
    await turns.approve(callerOf(ada), turn.id, answers);
    await reading;
    expect(tools.made.map(({ arguments: text }) => text)).toEqual(['{"at":0}']);
    await readAll(turns, (await turns.begin(ask('more', id))).id);
    const told = ground.gateway.asked.at(-1)?.body.messages;
    expect(told[1].tool_calls.map(({ id: call }: { id: string }) => call)).toEqual(ids);
    expect(told.slice(2, 4)).toMatchObject([
      { tool_call_id: 'same', content: 'wrote {"at":0}' },
      { tool_call_id: 'call_1', content: expect.not.stringContaining('wrote') },
    ]);
  });

  it.each([
    ['required', 'auto'],
    [{ type: 'function', function: { name: 'write' } }, 'auto'],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } },
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
    ],
    ['none', 'none'],
    ['auto', 'auto'],
    [null, null],
  ])('are asked for with the choice %j, and behind calls with %j', async (choice, later) => {
    const id = await open({ tools: rules });
    ground.gateway.script(calls(['c1', 'read', {}]), calls(['c2', 'write', {}]), says(['Done.']));
    const before = ground.gateway.asked.length;
    const turn = await turns.begin(ask('go', id, { options: { tool_choice: choice } }));
    await expect.poll(async () => (await turns.find(ada, turn.id)).status).toBe('waiting');
    await turns.approve(callerOf(ada), turn.id, [{ callId: 'c2', isApproved: true }]);
    expect((await readAll(turns, turn.id)).at(-1)).toMatchObject({ finishReason: 'stop' });
    const choices = ground.gateway.asked.slice(before).map(({ body }) => body.tool_choice);
    expect(choices).toEqual([choice, later, later]);
  });

  it.each([
    [{}, { model: 'alias' }, 'alias'],
    [{ model: 'alias' }, {}, 'alias'],
    [{}, {}, 'auto-route'],
  ])('are followed by the model that was asked for, whatever it calls itself', async (...given) => {
    const [kept, request, model] = given;
    const id = await open({ tools: rules, ...kept });
    const wanted: string[] = [];
    const dated =
      (script: Script): Script =>
      async (asked, answer) => {
        wanted.push(asked.body.model);
        asked.body.model = 'alias-2026-11-22';
        await script(asked, answer);
      };
    ground.gateway.script(
      dated(calls(['c1', 'read', {}])),
      dated(calls(['c2', 'write', {}])),
      dated(says(['Done.'])),
    );
    const turn = await turns.begin(ask('go', id, request));
    await expect.poll(async () => (await turns.find(ada, turn.id)).status).toBe('waiting');
    await turns.approve(callerOf(ada), turn.id, [{ callId: 'c2', isApproved: true }]);
    expect((await readAll(turns, turn.id)).at(-1)).toMatchObject({ model: 'alias-2026-11-22' });
    expect(wanted).toEqual([model, model, model]);
  });

  it('may have their arguments as an object', async () => {
    const id = await open({ tools: rules });
    const called = { name: 'read', arguments: { f: 'a' } };
    ground.gateway.script(
      (_asked, answer) => {
        answer.delta({ tool_calls: [{ index: 0, id: 'c1', function: called }] });
        answer.finish('tool_calls');
      },
      says(['Read.']),
    );
    const events = await readAll(turns, (await turns.begin(ask('go', id))).id);
    expect(events.at(-1)).toMatchObject({ type: 'ended', finishReason: 'stop' });
    expect(tools.made).toEqual([{ id: 'c1', name: 'read', arguments: '{"f":"a"}' }]);
  });

  it.each([
    ["the conversation's", {}],
    ["the caller's", { tools: [{ type: 'function', function: { name: 'read' } }] }],
  ])('are not made in an answer that was filtered: %s tools', async (_whose, options) => {
    const id = await open({ tools: rules });
    ground.gateway.script((_asked, answer) => {
      answer.say('I shall');
      answer.call('c1', 'read', {});
      answer.finish('content_filter');
    });
    const events = await readAll(turns, (await turns.begin(ask('go', id, { options }))).id);
    expect(events.map(({ type }) => type)).toEqual(['begun', 'delta', 'ended']);
    expect(events.at(-1)).toMatchObject({ status: 'completed', finishReason: 'content_filter' });
    expect(tools.made).toEqual([]);
    expect((await messagesOf(id))[1]).toMatchObject({ content: 'I shall', status: 'complete' });
    expect((await messagesOf(id))[1]).not.toHaveProperty('toolCalls');
  });

  it('that are none are not waited for', async () => {
    const id = await open({ tools: rules });
    ground.gateway.script((_asked, answer) => {
      answer.delta({ tool_calls: [{ index: 0, id: 'c1', function: { arguments: '{}' } }] });
      answer.finish('tool_calls');
    });
    const events = await readAll(turns, (await turns.begin(ask('go', id))).id);
    expect(events.at(-1)).toMatchObject({ status: 'completed', finishReason: 'stop' });
  });

  it('wait for their user, who answers on another replica', async () => {
    const id = await open({ tools: rules });
    ground.gateway.script(
      calls(['c1', 'read', {}], ['c2', 'write', { f: 'b' }], ['c3', 'write', {}]),
      says(['Done.']),
    );
    const turn = await turns.begin(ask('go', id));
    const reading = readAll(turns, turn.id);
    await expect.poll(async () => (await there.turns.find(ada, turn.id)).status).toBe('waiting');
    expect(tools.made).toHaveLength(1);
    await expect(turns.begin(ask('more', id))).rejects.toMatchObject({
      reason: 'turn_in_progress',
    });
    await expect(there.turns.approve(callerOf('usr_eve'), turn.id, [])).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(
      there.turns.approve(callerOf(ada), turn.id, [{ callId: 'c1', isApproved: true }]),
    ).rejects.toMatchObject({ reason: 'unknown_call' });
    const half = await there.turns.approve(callerOf(ada), turn.id, [
      { callId: 'c3', isApproved: false },
    ]);
    expect(half.status).toBe('waiting');
    await expect(
      turns.approve(callerOf(ada), turn.id, [{ callId: 'c3', isApproved: true }]),
    ).rejects.toMatchObject({ code: 'conflict', reason: 'call_answered' });
    const both = await Promise.allSettled(
      [here, there].map((replica) =>
        replica.turns.approve(callerOf(ada), turn.id, [{ callId: 'c2', isApproved: true }]),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const events = await reading;
    expect(
      events.map((event) => ('callId' in event ? `${event.type} ${event.callId}` : event.type)),
    ).toEqual([
      'begun',
      'tool-call',
      'tool-result c1',
      'tool-call',
      'tool-call',
      'approval c3',
      'approval c2',
      'tool-result c3',
      'tool-result c2',
      'begun',
      'delta',
      'ended',
    ]);
    expect(events.at(-1)).toMatchObject({ usage: { promptTokens: 20, totalTokens: 21 } });
    expect(tools.made.map(({ id: call }) => call)).toEqual(['c1', 'c2']);
    const told = ground.gateway.asked.at(-1)?.body.messages;
    expect(told.slice(2)).toMatchObject([
      { role: 'tool', tool_call_id: 'c1', content: 'read {}' },
      { role: 'tool', tool_call_id: 'c2', content: 'wrote {"f":"b"}' },
      { role: 'tool', tool_call_id: 'c3', content: expect.stringContaining('refused') },
    ]);
    await expect(turns.approve(callerOf(ada), turn.id, [])).rejects.toMatchObject({
      reason: 'turn_not_waiting',
    });
  });

  it('that wait or run are stopped with their turn', async () => {
    const id = await open({ tools: rules });
    ground.gateway.script(calls(['c1', 'write', {}]), calls(['c2', 'hang', {}]), says(['Sorry.']));
    const waiting = await turns.begin(ask('go', id));
    await readAll(turns, waiting.id, { until: ({ type }) => type === 'tool-call' });
    expect(await there.turns.stop(ada, { conversationId: id })).toBe(true);
    const usage = { promptTokens: 10, completionTokens: 0, totalTokens: 10 };
    expect((await readAll(turns, waiting.id)).at(-1)).toMatchObject({ status: 'stopped', usage });
    const hanging = await turns.begin(ask('go on', id));
    await expect.poll(() => tools.made.length).toBe(1);
    expect(await there.turns.stop(ada, { turnId: hanging.id })).toBe(true);
    expect((await readAll(turns, hanging.id)).at(-1)).toMatchObject({ status: 'stopped', usage });
    await readAll(turns, (await turns.begin(ask('and?', id))).id);
    const told: { role: string; content: string }[] = ground.gateway.asked.at(-1)?.body.messages;
    expect(told.map(({ role }) => role).join(' ')).toBe(
      'user assistant tool user assistant tool user',
    );
    expect(told[2]?.content).toMatch(/was not made/);
    expect(told[5]?.content).toMatch(/outcome of this call is unknown/);
  });

  it('end after sixteen rounds', async () => {
    const id = await open({ tools: rules });
    ground.gateway.script(calls(['c1', 'read', {}]));
    const events = await readAll(turns, (await turns.begin(ask('go', id))).id);
    expect(events.filter(isEnd)).toMatchObject([{ type: 'failed', code: 'TOO_MANY_TOOL_ROUNDS' }]);
    expect(tools.made).toHaveLength(16);
  });
});
