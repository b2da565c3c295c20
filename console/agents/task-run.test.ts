import { expect, test } from 'vitest';
import { hasEnded, taskOf, type TaskDraft } from './task-run.ts';

const draft: TaskDraft = {
  targetAgent: '',
  type: 'chat',
  inputKind: 'text',
  input: 'Hello',
  priority: 'normal',
  timeoutSeconds: '',
};

test('a text is the prompt of a task, and no agent lets the mesh choose', () => {
  expect(taskOf(draft)).toEqual({
    task: { type: 'chat', input: { prompt: 'Hello' }, priority: 'normal' },
  });
});

test('JSON is the input itself, and seconds become milliseconds', () => {
  const body = taskOf({
    ...draft,
    targetAgent: ' a1 ',
    inputKind: 'json',
    input: '{"a":1}',
    timeoutSeconds: '1.5',
  });
  expect(body).toEqual({
    targetAgent: 'a1',
    task: { type: 'chat', input: { a: 1 }, priority: 'normal', timeout: 1_500 },
  });
});

test('no JSON at all is an empty input, a list is none', () => {
  expect(taskOf({ ...draft, inputKind: 'json', input: '' }).task?.input).toEqual({});
  expect(() => taskOf({ ...draft, inputKind: 'json', input: '[]' })).toThrow('the input must be');
});

test('a task has ended once it neither waits nor runs', () => {
  expect(hasEnded({ status: 'running' })).toBe(false);
  expect(hasEnded({ status: 'cancelled' })).toBe(true);
});
