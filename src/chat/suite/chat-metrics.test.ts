import { expect, test } from 'vitest';
import type { Conversations } from '../conversations/conversation.ts';
import type { Orchestrations } from '../orchestrations/orchestration.ts';
import type { Search } from '../search/search.ts';
import type { Turn, TurnEvent, TurnListener, TurnRequest, Turns } from '../turns/turn.ts';
import { ChatMetrics } from './chat-metrics.ts';

const request = { messages: [] } as unknown as TurnRequest;

/** Turns whose events a test tells. */
function handMadeTurns() {
  const listeners = new Set<TurnListener>();
  let count = 0;
  const refuse = async (): Promise<never> => Promise.reject(new Error('not in this test'));
  const turns: Turns = {
    begin: async ({ messages }) => {
      if (messages.length > 0) throw new Error('refused');
      count += 1;
      return turnOf(`trn_${count}`);
    },
    find: refuse,
    follow: () => {
      throw new Error('not in this test');
    },
    stop: refuse,
    approve: refuse,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const tell = (id: string, event: TurnEvent) => {
    for (const listener of listeners) listener(turnOf(id), event);
  };
  return { turns, tell };
}

function turnOf(id: string): Turn {
  return { id, ownerId: 'usr', status: 'running', messageId: 'msg', model: 'm', createdAtMs: 0 };
}

const delta = { seq: 1, type: 'delta', content: 'a' } as const;
const ended = {
  seq: 2,
  type: 'ended',
  status: 'completed',
  finishReason: 'stop',
  messageId: 'msg',
  model: 'm',
  usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7, cost: 0.5 },
} as const;

const textOf = async (metrics: ChatMetrics) => (await metrics.answer()).text();

test('a turn is counted once, by the replica that began it, with its tokens and times', async () => {
  const metrics = new ChatMetrics();
  const { turns, tell } = handMadeTurns();
  const measured = metrics.measuredTurns(turns);
  const { id } = await measured.begin(request);
  tell('trn_of_another_replica', delta);
  tell('trn_of_another_replica', ended);
  tell(id, delta);
  tell(id, delta);
  tell(id, ended);
  tell(id, ended);
  const text = await textOf(metrics);
  expect(text).toContain('chat_turns_total{status="completed"} 1');
  expect(text).toContain('chat_first_token_seconds_count 1');
  expect(text).toContain('chat_turn_seconds_count 1');
  expect(text).toContain('chat_tokens_total{direction="prompt"} 3');
  expect(text).toContain('chat_tokens_total{direction="completion"} 4');
  expect(text).toContain('chat_cost_dollars_total 0.5');
});

test('failed, stopped and refused turns are told apart', async () => {
  const metrics = new ChatMetrics();
  const { turns, tell } = handMadeTurns();
  const measured = metrics.measuredTurns(turns);
  tell((await measured.begin(request)).id, { seq: 1, type: 'failed', code: 'x', message: 'x' });
  tell((await measured.begin(request)).id, { ...ended, status: 'stopped' });
  await expect(measured.begin({ ...request, messages: [{ role: 'user' }] })).rejects.toThrow(
    'refused',
  );
  const text = await textOf(metrics);
  for (const status of ['failed', 'stopped', 'refused']) {
    expect(text).toContain(`chat_turns_total{status="${status}"} 1`);
  }
});

test('what is done with conversations, searches and orchestrations is counted, failures are not', async () => {
  const metrics = new ChatMetrics();
  const nothing = async () => Promise.resolve({} as never);
  const fail = async () => Promise.reject(new Error('away'));
  const conversations = metrics.measuredConversations({
    create: nothing,
    branch: nothing,
    remove: fail,
    append: async () => [{ role: 'user' }, { role: 'assistant' }],
  } as unknown as Conversations);
  await conversations.create('usr');
  await conversations.append('usr', 'cnv', []);
  await expect(conversations.remove('usr', 'cnv')).rejects.toThrow('away');
  const search = metrics.measuredSearch({ find: fail } as unknown as Search);
  await expect(search.find('usr', { query: 'x' })).rejects.toThrow('away');
  const orchestrations = metrics.measuredOrchestrations({
    start: nothing,
  } as unknown as Orchestrations);
  await orchestrations.start({} as never, {} as never);
  const text = await textOf(metrics);
  expect(text).toContain('chat_conversations_total{change="created"} 1');
  expect(text).not.toMatch(/chat_conversations_total\{change="deleted"\} [1-9]/);
  expect(text).toContain('chat_messages_total{role="assistant"} 1');
  expect(text).toContain('chat_search_seconds_count{kind="messages"} 1');
  expect(text).toContain('chat_orchestrations_total{change="started"} 1');
});

test('sockets are counted while they are open, each once', async () => {
  const metrics = new ChatMetrics();
  const close = metrics.socketOpened('websocket');
  metrics.socketOpened('polling');
  expect(await textOf(metrics)).toContain('chat_sockets{transport="websocket"} 1');
  close();
  close();
  const text = await textOf(metrics);
  expect(text).toContain('chat_sockets{transport="websocket"} 0');
  expect(text).toContain('chat_sockets{transport="polling"} 1');
});
