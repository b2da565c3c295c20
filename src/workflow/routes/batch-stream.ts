import type { Connection } from '../../kit/sockets/connection.ts';
import { toBatchAnswer } from '../batches/answers.ts';
import type { Batch, BatchItem } from '../batches/batch.ts';
import type { Batches } from '../batches/batches.ts';
import type { batchSockets } from '../schemas/batches.ts';
import { serveReplay, type Reader } from './replayed-stream.ts';

const portion = 200;
const progressEveryMs = 500;

type BatchConnection = Connection<typeof batchSockets.batch>;
type BatchSource = Pick<Batches, 'eventsAfter' | 'untilNews'>;

/**
 * Tells a connection what happens to a batch, from its start or behind `after` of the query: read from
 * the database in portions as fast as the reader takes them, so that nothing is missed and nothing is
 * kept. Closes with 1000 after the end.
 */
export function serveBatch(connection: BatchConnection, batches: BatchSource): void {
  const given = Number(connection.query.get('after') ?? 0);
  const { batchId } = connection.params;
  serveReplay(connection, {
    after: Number.isSafeInteger(given) && given >= 0 ? given : 0,
    tell: (after, reader) => tellBatch(batches, { batchId, after }, reader),
  });
}

async function tellBatch(
  batches: BatchSource,
  { batchId, after }: { readonly batchId: string; readonly after: number },
  reader: Reader,
): Promise<void> {
  let position = after;
  let toldAtMs = 0;
  while (!reader.signal.aborted) {
    const news = batches.untilNews(batchId, reader.signal);
    const { batch, ends } = await batches.eventsAfter(batchId, position, portion);
    if (!batch) return reader.close(1000, 'the batch is gone');
    for (const end of ends) {
      await reader.send(toItemEvent(batchId, end));
      position = end.seq ?? position;
    }
    if (ends.length === portion) continue;
    // Its end comes after all of its items.
    if (batch.completedAt) {
      await reader.send(toEndEvent(batch, batch.completedAt));
      return reader.close(1000, 'the batch has ended');
    }
    if (ends.length > 0 && performance.now() - toldAtMs >= progressEveryMs) {
      toldAtMs = performance.now();
      await reader.send(toProgressEvent(batch, position));
    }
    await news;
  }
}

function toEndEvent(batch: Batch, completedAt: Date): object {
  const { id: batchId, status, lastSeq, createdAt } = batch;
  return {
    type: 'batch-completed',
    batchId,
    status,
    ...countsOf(batch),
    duration: completedAt.getTime() - createdAt.getTime(),
    timestamp: completedAt.toISOString(),
    seq: lastSeq,
  };
}

function toItemEvent(batchId: string, item: BatchItem): object {
  const { index, status, executionId, error, endedAt, seq } = item;
  return {
    type: status === 'completed' ? 'item-completed' : 'item-failed',
    batchId,
    index,
    ...(executionId === undefined ? {} : { executionId }),
    ...(status === 'completed' ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    timestamp: (endedAt ?? new Date(0)).toISOString(),
    seq,
  };
}

function toProgressEvent(batch: Batch, seq: number): object {
  const timestamp = new Date().toISOString();
  return { type: 'batch-progress', batchId: batch.id, ...countsOf(batch), timestamp, seq };
}

function countsOf(batch: Batch) {
  const { totalItems, progress } = toBatchAnswer(batch, '');
  return { totalItems, progress };
}
