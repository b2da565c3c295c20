import { expect, test } from 'vitest';
import type { SpanHead } from '../trace/span.ts';
import type { Bottleneck } from './bottlenecks.ts';
import type { Finding } from './finding.ts';
import { inWords, recommendBottleneck } from './recommendations.ts';
import { draw } from './testing.ts';

function bottleneck(head: Partial<SpanHead>, rest: Partial<Bottleneck> = {}): Bottleneck {
  return {
    head: { ...draw({ id: 'pay', from: 0, to: 800 }), ...head },
    expectedUs: 200_000,
    basis: 'history',
    reason: 'slow',
    severity: 'high',
    onPathUs: 700_000,
    savingUs: 600_000,
    ...rest,
  };
}

test.each<[string, Bottleneck, RegExp]>([
  [
    'a failure by its code',
    bottleneck({ errorCode: 'ETIMEDOUT', statusMessage: 'no answer' }, { reason: 'error' }),
    /^pay in shop failed \(ETIMEDOUT: no answer\)/,
  ],
  ['a failure that says nothing', bottleneck({}, { reason: 'error' }), /failed \(ERROR\): look/],
  [
    'a failure that says too much',
    bottleneck({ statusMessage: `${'x'.repeat(199)}😀${'y'.repeat(900)}` }, { reason: 'error' }),
    /\(ERROR: x{199}…\)/,
  ],
  ['what is most of the trace', bottleneck({}, { reason: 'share' }), /look here first\.$/],
  [
    'what nobody waited for',
    bottleneck({}, { reason: 'share', onPathUs: 0 }),
    /did not wait for it/,
  ],
  [
    'what has a history',
    bottleneck({}),
    /^pay took 800 ms, where it usually takes 200 ms: its own/,
  ],
  [
    'what only the trace shows',
    bottleneck({}, { basis: 'trace' }),
    /where it takes 200 ms elsewhere in this trace/,
  ],
  ['a model', bottleneck({ callee: { type: 'model', name: 'openai' } }), /openai's latency/],
  ['a database', bottleneck({ callee: { type: 'database', name: 'pg' } }), /locks on pg/],
  ['a queue', bottleneck({ callee: { type: 'queue', name: 'kafka' } }), /full kafka is/],
  [
    'another host',
    bottleneck({ callee: { type: 'external', name: 'api' } }),
    /api answered slowly/,
  ],
])('%s is told what to do about', (_title, given, sentence) => {
  expect(recommendBottleneck(given, [])).toEqual([expect.stringMatching(sentence)]);
});

const cold: Finding = {
  shape: 'cold-start',
  spanIds: [],
  savingUs: 1,
  remainsUs: 0,
  evidence: { operation: 'pay', firstUs: 800_000, laterUs: undefined },
};

test('a shape says more than slowness, and never hides a failure', () => {
  const warm = /^pay took 800 ms at the first call: keep/;
  expect(recommendBottleneck(bottleneck({}), [cold])).toEqual([expect.stringMatching(warm)]);
  expect(recommendBottleneck(bottleneck({}, { reason: 'error' }), [cold])).toEqual([
    expect.stringMatching(/failed/),
    expect.stringMatching(warm),
  ]);
});

test.each([
  [0, '0 ms'],
  [449, '0.4 ms'],
  [9_949, '9.9 ms'],
  [9_950, '10 ms'],
  [999_499, '999 ms'],
  [999_500, '1 s'],
  [2_460_000, '2.5 s'],
])('%i microseconds are %s in words', (us, words) => {
  expect(inWords(us)).toBe(words);
});
