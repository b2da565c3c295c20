import { describe, expect, test } from 'vitest';
import type { LiveTurn } from '../turns/live-turn.ts';
import { arrange, openTurnOf, questionBefore, withMessage, type Message } from './messages.ts';

const message = (place: number, role: string, more: Partial<Message> = {}): Message => ({
  id: `msg_${place}`,
  role,
  content: `text ${place}`,
  timestamp: '2026-01-01T00:00:00.000Z',
  place,
  status: 'complete',
  ...more,
});

const answer = { messageId: 'msg_2', model: 'm', text: 'longer text', reasoning: 'hm', calls: [] };
const turn: LiveTurn = { id: 'trn_1', answers: [answer], status: 'running' };

describe('a conversation', () => {
  test('shows what is being written where it will stand', () => {
    const pending = message(2, 'assistant', { status: 'pending', content: 'long' });
    const [, shown] = arrange([message(1, 'user'), pending], turn);
    expect(shown).toMatchObject({ type: 'answer', text: 'longer text', reasoning: 'hm' });
  });

  test('shows what is stored once an answer stands', () => {
    const [shown] = arrange([message(2, 'assistant')], turn);
    expect(shown).toMatchObject({ text: 'text 2', status: 'complete' });
  });

  test('shows a question and its answer before they are stored, and once afterwards', () => {
    const asked: LiveTurn = { ...turn, question: { text: 'why?', after: 0 } };
    expect(arrange([], asked).map(({ text }) => text)).toEqual(['why?', 'longer text']);
    const stored = [message(1, 'user', { content: 'why?' })];
    expect(arrange(stored, asked).map(({ text }) => text)).toEqual(['why?', 'longer text']);
  });

  test('gives results of tools to their calls', () => {
    const calls = [{ id: 'c1', name: 'files__read', arguments: '{}' }];
    const items = arrange(
      [
        message(1, 'assistant', { tool_calls: calls }),
        message(2, 'tool', { tool_call_id: 'c1', content: 'found' }),
      ],
      undefined,
    );
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ calls: [{ id: 'c1', result: { content: 'found' } }] });
  });

  test('shows a call that was told and is not stored yet', () => {
    const call = { id: 'c1', name: 'files__read', arguments: '{}', needsApproval: true };
    const live: LiveTurn = { ...turn, answers: [{ ...answer, calls: [call] }] };
    const [shown] = arrange([message(2, 'assistant', { status: 'pending' })], live);
    expect(shown).toMatchObject({ calls: [{ id: 'c1' }] });
  });
});

test('a turn that runs or broke off is open, unless another came behind it', () => {
  const pending = message(2, 'assistant', { status: 'pending', turn_id: 'trn_1' });
  expect(openTurnOf([message(1, 'user'), pending])).toBe('trn_1');
  expect(openTurnOf([{ ...pending, status: 'interrupted' }])).toBe('trn_1');
  expect(openTurnOf([pending, message(3, 'user'), message(4, 'assistant')])).toBeUndefined();
});

test('a message that is told takes its place, and none that is not shown comes in', () => {
  const shown = [message(3, 'user'), message(4, 'assistant')];
  const changed = message(4, 'assistant', { content: 'new' });
  expect(withMessage(shown, changed).map(({ content }) => content)).toEqual(['text 3', 'new']);
  expect(withMessage(shown, message(5, 'user'))).toHaveLength(3);
  expect(withMessage(shown, message(1, 'user'))).toBe(shown);
});

test('the question of an answer is what was said last before it', () => {
  const items = arrange(
    [message(1, 'user'), message(2, 'assistant'), message(3, 'user')],
    undefined,
  );
  expect(questionBefore(items, 'msg_2')).toMatchObject({ id: 'msg_1' });
});
