import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { faultAnswer, wrongId } from './link-faults.ts';

/**
 * Which requests wait on a channel, so that an answer under an id that nobody asked with becomes the
 * failure of the one that waits. With several waiting it is nobody's, and what comes late or twice is passed on.
 */
export class AskedIds {
  readonly #waiting = new Set<RequestId>();
  readonly #names = new Set<RequestId>();
  #highest = -1;

  /** Before the message goes out. */
  noteSent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if (message.method === 'notifications/cancelled') this.forget(message.params?.['requestId']);
    if (!('id' in message)) return;
    this.#note(message.id);
    // It is answered when it ends, which nobody waits for.
    if (message.method === 'subscriptions/listen') this.forget(message.id);
  }

  /** The request with this id waits no more. */
  forget(id: unknown): void {
    if (typeof id === 'number' || typeof id === 'string') this.#waiting.delete(id);
  }

  /** What to give on in the place of what came. */
  received(message: JSONRPCMessage): JSONRPCMessage {
    // Without an id, or with null, it may be about a notification (JSON-RPC 2.0, section 5).
    if ('method' in message || message.id === undefined || message.id === null) return message;
    const answered = this.#read(message.id);
    if (this.#waiting.delete(answered) || this.#isKnown(answered)) {
      return { ...message, id: answered };
    }
    const [id, ...others] = this.#waiting;
    if (id === undefined || others.length > 0) return message;
    this.#waiting.delete(id);
    return faultAnswer(id, wrongId());
  }

  #note(id: RequestId): void {
    this.#waiting.add(id);
    if (typeof id === 'number') this.#highest = Math.max(this.#highest, id);
    else this.#names.add(id);
  }

  /** The client takes `"1"` for 1. */
  #read(id: RequestId): RequestId {
    return typeof id === 'string' && !this.#names.has(id) && /^\d+$/.test(id) ? Number(id) : id;
  }

  /** The client counts its ids; what it names by a text are few. */
  #isKnown(id: RequestId): boolean {
    return typeof id === 'number' ? id >= 0 && id <= this.#highest : this.#names.has(id);
  }
}
