import { expect, test } from 'vitest';
import { quorumOf, swarmOf } from './swarm-draft.ts';

const draft = {
  name: 'release',
  members: ['a', 'b'],
  question: 'Ship it?',
  input: '',
  threshold: '',
  timeoutSeconds: '20',
};

test('the question stands in the input of the task, beside what else is given', () => {
  expect(swarmOf(draft)).toEqual({
    name: 'release',
    agents: ['a', 'b'],
    task: { type: 'question', input: { question: 'Ship it?' } },
    consensus: { timeout: 20_000 },
  });
  expect(swarmOf({ ...draft, input: '{"tag":"v1"}', threshold: '2' })).toMatchObject({
    task: { input: { question: 'Ship it?', tag: 'v1' } },
    consensus: { threshold: 2 },
  });
  expect(() => swarmOf({ ...draft, input: '[' })).toThrow('the further input is no JSON');
});

test('four members tolerate a liar and need three equal votes; fewer tolerate none', () => {
  expect(quorumOf(1)).toEqual({ quorum: 1, liars: 0 });
  expect(quorumOf(3)).toEqual({ quorum: 2, liars: 0 });
  expect(quorumOf(4)).toEqual({ quorum: 3, liars: 1 });
  expect(quorumOf(7)).toEqual({ quorum: 5, liars: 2 });
});
