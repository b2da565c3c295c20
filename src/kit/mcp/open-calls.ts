/** Names a call within everything that may cancel it: whose it is, in which session, under which id. */
export interface CallKey {
  readonly subject: string;
  readonly session: string;
  readonly id: string | number;
}

export interface CallEnds {
  /** Of the request that the call came with. */
  readonly signal: AbortSignal;
  /** Ends that request without an answer: whoever cancels a call takes none (MCP 2025-11-25, cancellation). */
  readonly leave: (() => void) | undefined;
}

/**
 * The calls that are running now, so that `notifications/cancelled`, which comes as a request of its
 * own, finds the one it means. Only calls of this process are known: a cancellation that reaches
 * another one has no effect, as MCP allows.
 */
export class OpenCalls {
  readonly #open = new Map<string, AbortController>();

  /** Runs a call whose signal is aborted by `cancel`, or with the given one. */
  async run<T>(
    key: CallKey | undefined,
    { signal, leave }: CallEnds,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (!key) return work(signal);
    const text = textOf(key);
    const controller = new AbortController();
    if (leave) controller.signal.addEventListener('abort', leave, { once: true });
    this.#open.set(text, controller);
    try {
      return await work(AbortSignal.any([signal, controller.signal]));
    } finally {
      if (this.#open.get(text) === controller) this.#open.delete(text);
    }
  }

  /** Without effect when no such call is running. */
  cancel(key: CallKey): void {
    this.#open.get(textOf(key))?.abort();
  }
}

function textOf({ subject, session, id }: CallKey): string {
  return JSON.stringify([subject, session, id]);
}
