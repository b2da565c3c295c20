import { expect, test } from 'vitest';
import { headOf } from '../trace/testing.ts';
import { Assembly } from './assembly.ts';

const start = Date.UTC(2026, 10, 21);
const week = 7 * 86_400_000;
const quietMs = 2_000;
const partialMs = 30_000;

function open() {
  const assembly = new Assembly({ quietMs, partialMs, openSpansMax: 100 });
  return {
    assembly,
    /** A span that is a root, or names one that has not come. */
    take: (traceId: string, atMs: number, parentSpanId?: string) =>
      assembly.add(
        assembly.touch(traceId, atMs),
        headOf('a1', [1, 2], { traceId, parentSpanId }),
        undefined,
      ),
    completeAt: (nowMs: number) => {
      const taken = assembly.takeComplete(nowMs, () => true, 100);
      for (const trace of taken) assembly.keepLate(trace);
      return taken.map(({ traceId }) => traceId);
    },
  };
}

test('a trace is complete when nothing came for long enough, without its root for longer', () => {
  const { take, completeAt } = open();
  take('whole', start);
  take('partial', start, 'b1');
  expect(completeAt(start + quietMs - 1)).toEqual([]);
  expect(completeAt(start + quietMs)).toEqual(['whole']);
  expect(completeAt(start + partialMs - 1)).toEqual([]);
  expect(completeAt(start + partialMs)).toEqual(['partial']);
});

test('a clock that is set back keeps no trace open, whether it came before or after', () => {
  const { assembly, take, completeAt } = open();
  take('late', start + week);
  expect(completeAt(start + week + quietMs)).toEqual(['late']);
  take('whole', start + week + quietMs);
  take('partial', start + week + quietMs, 'b1');
  take('next', start);
  expect(completeAt(start)).toEqual(['whole', 'partial']);
  expect(completeAt(start + quietMs)).toEqual(['next']);
  assembly.forgetLate(start + quietMs);
  expect(assembly.touch('late', start + quietMs).spans.size).toBe(0);
});
