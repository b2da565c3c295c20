import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../kit/errors.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import type { Connection } from '../../kit/sockets/connection.ts';
import { subscribeFields } from '../../kit/sockets/subscription.ts';
import { toBatchAnswer } from '../batches/answers.ts';
import type { Batch, BatchItem } from '../batches/batch.ts';
import type { Batches } from '../batches/batches.ts';
import type { batchSockets } from '../schemas/batches.ts';

const subscribeMessage = Type.Object(subscribeFields);
const portion = 200;
const progressEveryMs = 500;
const malformedMax = 3;

/**
 * Tells a connection what happens to a batch: read from the database in portions as fast as the
 * reader takes them, so that nothing is missed and nothing is kept. Closes with 1000 after the end.
 */
export class BatchStream {
  readonly #connection: Connection<typeof batchSockets.batch>;
  readonly #batches: Pick<Batches, 'eventsAfter' | 'untilNews'>;
  /** Ends the subscription that another one replaced. */
  #current = new AbortController();
  #malformedCount = 0;

  constructor(
    connection: Connection<typeof batchSockets.batch>,
    batches: Pick<Batches, 'eventsAfter' | 'untilNews'>,
  ) {
    this.#connection = connection;
    this.#batches = batches;
  }

  /** From the start of the batch, or behind `after` of the query. */
  open(): void {
    this.#connection.onMessage((text) => this.#receive(text));
    this.#connection.signal.addEventListener('abort', () => this.#current.abort(), { once: true });
    const after = Number(this.#connection.query.get('after') ?? 0);
    this.#begin(Number.isSafeInteger(after) && after >= 0 ? after : 0);
  }

  #receive(text: string): void {
    try {
      const message = parseJsonBody(text);
      if (!Value.Check(subscribeMessage, message)) {
        throw new Fault(
          'invalid',
          'the message must be {"action": "subscribe", "after"?, "ack"?}',
          {
            reason: 'validation_error',
          },
        );
      }
      const { after = 0, ack = false } = message;
      if (ack) this.#connection.send({ type: 'subscribed', seq: after });
      this.#begin(after);
    } catch (error) {
      this.#connection.sendFault(Fault.from(error));
      this.#malformedCount += 1;
      if (this.#malformedCount < malformedMax) return;
      this.#connection.close(1007, `${malformedMax} malformed messages`);
    }
  }

  #begin(after: number): void {
    this.#current.abort();
    const current = new AbortController();
    this.#current = current;
    this.#follow(after, current.signal).catch(() => {
      this.#connection.close(1013, 'the batch cannot be read now: come again');
    });
  }

  async #follow(after: number, signal: AbortSignal): Promise<void> {
    const { batchId } = this.#connection.params;
    let position = after;
    let toldAtMs = 0;
    while (!signal.aborted) {
      const news = this.#batches.untilNews(batchId, signal);
      const { batch, ends } = await this.#batches.eventsAfter(batchId, position, portion);
      if (!batch) return this.#connection.close(1000, 'the batch is gone');
      for (const end of ends) {
        await this.#send(toItemEvent(batchId, end), signal);
        position = end.seq ?? position;
      }
      if (ends.length === portion) continue;
      // Its end comes after all of its items.
      if (batch.completedAt) return this.#end(batch, signal);
      if (ends.length > 0 && performance.now() - toldAtMs >= progressEveryMs) {
        toldAtMs = performance.now();
        await this.#send(toProgressEvent(batch, position), signal);
      }
      await news;
    }
  }

  async #end(batch: Batch, signal: AbortSignal): Promise<void> {
    const { status, lastSeq, completedAt = batch.createdAt } = batch;
    await this.#send(
      {
        type: 'batch-completed',
        batchId: batch.id,
        status,
        ...countsOf(batch),
        duration: completedAt.getTime() - batch.createdAt.getTime(),
        timestamp: completedAt.toISOString(),
        seq: lastSeq,
      },
      signal,
    );
    if (!signal.aborted) this.#connection.close(1000, 'the batch has ended');
  }

  async #send(event: object, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#connection.send(event)) await this.#connection.room();
  }
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
