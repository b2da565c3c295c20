import { expect, test } from 'vitest';
import { describeExpectation, readTest, withTest } from './flow-test.ts';

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(fields)) form.set(name, text);
  return form;
}

test('a test is what was filled in, without what was left blank', () => {
  const form = formOf({
    name: ' greets ',
    inputs: '{"name": "Ada"}',
    pinned: ' ',
    status: 'completed',
    expect: '[{"node": "say", "path": "text", "contains": "Ada"}]',
  });
  expect(readTest(form)).toEqual({
    name: 'greets',
    inputs: { name: 'Ada' },
    status: 'completed',
    expect: [{ node: 'say', path: 'text', contains: 'Ada' }],
  });
  expect(readTest(formOf({ name: 'fails', status: 'failed' }))).toEqual({
    name: 'fails',
    status: 'failed',
    expect: [],
  });
});

test.each([
  [{ inputs: 'Ada' }, 'Inputs is no JSON'],
  [{ pinned: '[]' }, 'Pinned must be a JSON object'],
  [{ expect: '{}' }, 'Expected must be a JSON array'],
])('%j is refused: %s', (fields, message) => {
  expect(() => readTest(formOf({ name: 'a', ...fields }))).toThrow(message);
});

test('a changed test stands where it stood', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, expect: [] }));
  if (!a || !b || !c) throw new Error('three were made');
  const renamed = { name: 'd', expect: [] };
  expect(withTest([a, b, c], renamed, b)).toEqual([a, renamed, c]);
  expect(withTest([a, b], c)).toEqual([a, b, c]);
});

test('an expectation is said in a line', () => {
  expect(describeExpectation({ equals: 42 })).toBe('the result equals 42');
  expect(describeExpectation({ node: 'say', path: 'text', contains: 'A' })).toBe(
    'say.text contains "A"',
  );
  expect(describeExpectation({ cel: 'nodes.say != null' })).toBe('nodes.say != null');
});
