import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { LinkProgress } from './link.ts';

type OnProgress = (progress: LinkProgress) => void;

/** One exchange of whose progress somebody wants to hear, until it is disposed of. */
export interface Reporting extends Disposable {
  /** What the server is to name in its reports. */
  readonly token: number;
}

/**
 * Who wants to hear of the progress of what is asked over one link. The SDK takes up a notification
 * after the answer that came with it, and then knows nobody who waits for it.
 */
export class ProgressReports {
  readonly #listeners = new Map<number, OnProgress>();
  #lastToken = 0;

  begin(onProgress: OnProgress): Reporting {
    const token = ++this.#lastToken;
    this.#listeners.set(token, onProgress);
    return { token, [Symbol.dispose]: () => void this.#listeners.delete(token) };
  }

  /** Every message that comes, before the SDK has it. */
  take(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/progress') return;
    const { progressToken, progress, total, message: text } = message.params ?? {};
    if (typeof progress !== 'number') return;
    this.#listeners.get(Number(progressToken))?.({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof text === 'string' ? { message: text } : {}),
    });
  }
}
