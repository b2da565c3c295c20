import { describe, expect, it } from 'vitest';
import { createBatch, type BatchOptions } from './batch.ts';

interface Write {
  readonly items: number[];
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
}

/** A flush under the test's control, and the record of its calls. */
function createSink(): { writes: Write[]; flush: BatchOptions<number>['flush'] } {
  const writes: Write[] = [];
  const flush = (items: number[]): Promise<void> =>
    new Promise((finish, fail) => writes.push({ items, finish, fail }));
  return { writes, flush };
}

const never = 1_000_000;

describe('a batch', () => {
  it('refuses items beyond its limit, and takes them again once some were written', async () => {
    const { writes, flush } = createSink();
    const batch = createBatch({ flush, maxItems: 2, maxDelayMs: never, maxPending: 3 });
    const added = [batch.add(1), batch.add(2), batch.add(3)];
    await expect(batch.add(4)).rejects.toMatchObject({ code: 'exhausted' });
    writes[0]?.finish();
    await added[0];
    const closed = Promise.all([batch.add(5), batch.close()]);
    await expect.poll(() => writes.length).toBe(2);
    writes[1]?.finish();
    await Promise.all([closed, ...added]);
    expect(writes.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 5],
    ]);
  });

  it('fails exactly the items of the flush that failed, also when it throws at once', async () => {
    const { writes, flush } = createSink();
    const batch = createBatch<number>({
      flush: (items) => {
        if (items.includes(9)) throw new Error('thrown');
        return flush(items);
      },
      maxItems: 2,
      maxDelayMs: never,
      maxPending: 10,
    });
    const outcomes = Promise.allSettled([1, 2, 3, 4, 9, 9].map((item) => batch.add(item)));
    writes[0]?.fail(new Error('rejected'));
    await expect.poll(() => writes.length).toBe(2);
    writes[1]?.finish();
    const reasons = (await outcomes).map((outcome) =>
      outcome.status === 'rejected' ? String(outcome.reason) : 'written',
    );
    const [rejected, thrown] = ['Error: rejected', 'Error: thrown'];
    expect(reasons).toEqual([rejected, rejected, 'written', 'written', thrown, thrown]);
  });

  it('refuses items after it was closed', async () => {
    const { flush } = createSink();
    const batch = createBatch({ flush, maxItems: 2, maxDelayMs: never, maxPending: 3 });
    await batch.close();
    await expect(batch.add(1)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('writes what it has after the delay', async () => {
    const { writes, flush } = createSink();
    const batch = createBatch({ flush, maxItems: 100, maxDelayMs: 1, maxPending: 100 });
    const added = [batch.add(1), batch.add(2)];
    await expect.poll(() => writes.length).toBe(1);
    writes[0]?.finish();
    await Promise.all(added);
    expect(writes.map(({ items }) => items)).toEqual([[1, 2]]);
  });

  it('never writes two batches at once, and fills the next one while it writes', async () => {
    let runningCount = 0;
    let mostRunning = 0;
    const sizes: number[] = [];
    const batch = createBatch<number>({
      flush: async (items) => {
        runningCount += 1;
        mostRunning = Math.max(mostRunning, runningCount);
        sizes.push(items.length);
        await Promise.resolve();
        runningCount -= 1;
      },
      maxItems: 10,
      maxDelayMs: never,
      maxPending: never,
    });
    const addMany = async (count: number): Promise<void> => {
      for (let item = 0; item < count; item += 1) {
        await Promise.all([batch.add(item), batch.flush()]);
      }
    };
    await Promise.all(Array.from({ length: 5 }, () => addMany(20)));
    expect(mostRunning).toBe(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
    expect(Math.max(...sizes)).toBeGreaterThan(1);
  });

  it('closes only after everything was written', async () => {
    const { writes, flush } = createSink();
    const batch = createBatch({ flush, maxItems: 1, maxDelayMs: never, maxPending: 10 });
    const added = [batch.add(1), batch.add(2)];
    let isClosed = false;
    const closing = batch.close().then(() => (isClosed = true));
    writes[0]?.finish();
    await added[0];
    await expect.poll(() => writes.length).toBe(2);
    expect(isClosed).toBe(false);
    writes[1]?.finish();
    await closing;
    await Promise.all(added);
  });
});
