import { createBatch, type Batch, type BatchOptions } from './batch.ts';

export interface AnsweredBatchOptions<Item, Answer> extends Omit<BatchOptions<Item>, 'flush'> {
  /** Does what the items ask for, all or none; an answer for each, in their order. */
  readonly answer: (items: readonly Item[]) => Promise<readonly Answer[]>;
}

interface Order<Item, Answer> {
  readonly item: Item;
  answer?: Answer;
}

/** A batch whose statement has an answer for each item. */
export class AnsweredBatch<Item, Answer> implements AsyncDisposable {
  readonly #batch: Batch<Order<Item, Answer>>;

  constructor({ answer, ...limits }: AnsweredBatchOptions<Item, Answer>) {
    this.#batch = createBatch<Order<Item, Answer>>({
      ...limits,
      flush: async (orders) => {
        const answers = await answer(orders.map(({ item }) => item));
        if (answers.length < orders.length) throw new Error('a batch was not answered in full');
        for (const [at, order] of orders.entries()) order.answer = answers[at] as Answer;
      },
    });
  }

  /** The answer to an item; rejects as `Batch.add` does. */
  async ask(item: Item): Promise<Answer> {
    const order: Order<Item, Answer> = { item };
    await this.#batch.add(order);
    // Set before the batch has settled.
    return order.answer as Answer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }
}
