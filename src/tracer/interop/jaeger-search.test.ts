import { expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { candidatesMax, searchTraces, type SearchSource } from './jaeger-search.ts';

const criteria = { fromUs: 0, toUs: 1, tags: {} };

/** Traces whose ids are their numbers, of which some match. */
function sourceOf(
  count: number,
  answerOf: (index: number) => Buffer,
): SearchSource & { looked: number } {
  const source = {
    looked: 0,
    findTraces: async ({ limit }: { readonly limit: number }) =>
      Array.from({ length: Math.min(count, limit) }, (_, index) => String(index)),
    match: async (traceId: string) => {
      source.looked += 1;
      return answerOf(Number(traceId));
    },
  };
  return source;
}

const nothing = Buffer.from('null');
const named = (index: number) => Buffer.from(String(index + 1));
const texts = (traces: readonly Buffer[]) => traces.map(String);

test('no candidates, no traces', async () => {
  const found = await searchTraces(sourceOf(0, named), { criteria, limit: 20 });
  expect(found).toEqual({ traces: [], isTruncated: false });
});

test('a failure to read ends the search, a trace that has gone does not', async () => {
  const broken = sourceOf(3, () => {
    throw new Fault('unavailable', 'no database');
  });
  await expect(searchTraces(broken, { criteria, limit: 20 })).rejects.toThrow('no database');
  const forgetful = sourceOf(3, (index) => {
    if (index === 1) throw new Fault('not_found', 'gone');
    return named(index);
  });
  const { traces } = await searchTraces(forgetful, { criteria, limit: 20 });
  expect(texts(traces)).toEqual(['1', '3']);
});

test('the newest that match are answered, and no more are looked into than that needs', async () => {
  const source = sourceOf(500, (index) => (index % 2 ? named(index) : nothing));
  const { traces, isTruncated } = await searchTraces(source, { criteria, limit: 3 });
  expect(texts(traces)).toEqual(['2', '4', '6']);
  expect(isTruncated).toBe(false);
  expect(source.looked).toBeLessThan(20);
});

test('it says when there were more than it looks into', async () => {
  const all = sourceOf(candidatesMax, () => nothing);
  expect((await searchTraces(all, { criteria, limit: 1 })).isTruncated).toBe(false);
  const more = sourceOf(candidatesMax + 1, () => nothing);
  expect((await searchTraces(more, { criteria, limit: 1 })).isTruncated).toBe(true);
  expect(more.looked).toBe(candidatesMax);
});

test('it says when the answer became too large, and gives one trace however large', async () => {
  const large = Buffer.alloc(20 * 1024 * 1024, 32);
  const found = await searchTraces(
    sourceOf(5, () => large),
    { criteria, limit: 5 },
  );
  expect(found.traces).toHaveLength(1);
  expect(found.isTruncated).toBe(true);
});

test('it stops when nobody waits for the answer any more', async () => {
  const caller = new AbortController();
  const source = sourceOf(500, (index) => {
    if (index === 10) caller.abort(new Fault('cancelled', 'the caller gave up'));
    return nothing;
  });
  const search = searchTraces(source, { criteria, limit: 1 }, caller.signal);
  await expect(search).rejects.toThrow('the caller gave up');
  expect(source.looked).toBeLessThan(20);
});
