import { Fault } from '../../kit/errors.ts';
import { answerTooLarge, type Reading } from '../conversations/message-batches-store.ts';
import { isSmallInJson, jsonBytes } from '../json-size.ts';

const rowsMax = 20_000;
const searchesMax = 5;
/** Of what is read, and of the JSON that is made of it: an alias repeats what was read once. */
const bytesMax = 16 * 1024 * 1024;
/** An answer that is not worth counting. */
const smallBytesMax = 64 * 1024;

/**
 * What one request may still cost, whatever its document looks like: the operations of a batch share one.
 * All that is asked for beyond it is refused with `invalid`.
 */
export class RequestBudget {
  #rowsLeft = rowsMax;
  #searchesLeft = searchesMax;
  #readBytesLeft = bytesMax;
  #answerBytesLeft = bytesMax;
  #lastReading: Promise<unknown> = Promise.resolve();

  /** Conversations and messages that are about to be read or repeated. */
  spendRows(rows: number): void {
    this.#rowsLeft -= rows;
    if (this.#rowsLeft >= 0) return;
    const most = `one request reads at most ${rowsMax} conversations and messages`;
    throw new Fault('invalid', most, { reason: 'too_many_rows' });
  }

  spendSearch(): void {
    this.#searchesLeft -= 1;
    if (this.#searchesLeft >= 0) return;
    const most = `one request searches at most ${searchesMax} times`;
    throw new Fault('invalid', most, { reason: 'too_many_searches' });
  }

  /** Reads when the readings before are done, with the bytes that they have left over. */
  async read<Value>(work: (bytesLeft: number) => Promise<Reading<Value>>): Promise<Value> {
    const reading = this.#lastReading.then(async () => {
      if (this.#readBytesLeft < 0) throw answerTooLarge();
      const { value, bytes } = await work(this.#readBytesLeft);
      this.#readBytesLeft -= bytes;
      return value;
    });
    this.#lastReading = reading.catch(() => {});
    return await reading;
  }

  /** An answer, before it is written. */
  spendAnswer(data: unknown): void {
    if (isSmallInJson(data, smallBytesMax)) return;
    this.#answerBytesLeft -= jsonBytes(data, Math.max(0, this.#answerBytesLeft));
    if (this.#answerBytesLeft >= 0) return;
    throw answerTooLarge();
  }
}
