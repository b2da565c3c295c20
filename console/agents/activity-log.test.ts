import { expect, test } from 'vitest';
import {
  addLine,
  describeEvent,
  describeGap,
  keyOfLine,
  type ActivityEvent,
} from './activity-log.ts';

const event = (seq: number, more: Partial<ActivityEvent> = {}): ActivityEvent => ({
  eventId: `evt_${seq}`,
  type: 'task-executed',
  agentId: 'a1',
  timestamp: '2026-01-01T00:00:00Z',
  data: {},
  seq,
  ...more,
});

test('the newest line comes first, and an event that is there already only once', () => {
  const log = [1, 2, 2].reduce<ReturnType<typeof addLine>>(
    (lines, seq) => addLine(lines, event(seq)),
    [],
  );
  expect(log.map(keyOfLine)).toEqual(['evt_2', 'evt_1']);
});

test('a gap stands between the events around it', () => {
  const log = addLine(addLine(addLine([], event(1)), { type: 'gap', from: 2, to: 4 }), event(5));
  expect(log.map(keyOfLine)).toEqual(['evt_5', 'gap 2 4', 'evt_1']);
});

test('the oldest lines make room', () => {
  let log: ReturnType<typeof addLine> = [];
  for (let seq = 1; seq <= 1_001; seq++) log = addLine(log, event(seq));
  expect(log).toHaveLength(1_000);
  expect(log.at(-1)).toMatchObject({ seq: 2 });
});

test('a gap says which events are missing', () => {
  expect(describeGap({ from: 2, to: 2 })).toContain('Event 2 is missing');
  expect(describeGap({ from: 2, to: 4 })).toContain('Events 2 to 4 are missing');
  expect(describeGap({ from: 3, to: 40, isRestart: true })).toContain('began to count anew');
});

test('an event says in few words what it is about', () => {
  const says = (type: string, data: object) => describeEvent(event(1, { type, data }));
  expect(says('agent-status', { previous: 'active', status: 'suspect' })).toBe('active → suspect');
  expect(says('agent-registered', { capabilities: ['a', 'b'] })).toBe('a, b');
  expect(says('task-executed', { duration: 12 })).toBe('in 12 ms');
  expect(says('swarm-decided', { status: 'timed-out' })).toBe('timed-out');
  expect(says('something-new', { a: 1 })).toBe('');
});
