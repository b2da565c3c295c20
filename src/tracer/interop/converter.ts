import { once } from 'node:events';
import { startThread } from '../../kit/entry-file.ts';
import { Fault } from '../../kit/errors.ts';
import type { ConversionReply, ConversionTask } from './conversion-thread.ts';
import { convert, type Conversion, type DocumentKind } from './conversion.ts';

/** What converts within some twenty milliseconds is not worth a thread. */
const smallLength = 128 * 1024;
const waitingMax = 8;

/** Converts documents: small ones at once, large ones one after another in a thread. */
export class Converter {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Throws `invalid` with the place of what is wrong, `exhausted` when too many wait. */
  async convert(text: string, kind: DocumentKind): Promise<Conversion> {
    if (text.length <= smallLength) return convert(text, kind);
    if (this.#waiting >= waitingMax) {
      throw new Fault('exhausted', 'too many documents are being read', { retryAfter: 5 });
    }
    this.#waiting += 1;
    const conversion = this.#last.then(() => convertAside({ text, kind }));
    this.#last = conversion.catch(() => {});
    return conversion.finally(() => (this.#waiting -= 1));
  }
}

async function convertAside(task: ConversionTask): Promise<Conversion> {
  const thread = startThread({ beside: import.meta.url, name: 'conversion-thread' }, task);
  try {
    const [reply] = (await once(thread, 'message')) as [ConversionReply];
    if ('conversion' in reply) return reply.conversion;
    throw new Fault('invalid', reply.refusal.message, reply.refusal.options);
  } finally {
    await thread.terminate();
  }
}
