import type {
  JSONRPCMessage,
  RequestId,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { AskedIds } from './asked-ids.ts';
import { answerCutOff, linkClosed } from './link-faults.ts';
import type { LinkFetch } from './link-fetch.ts';
import type { ResumingFetch } from './resuming-fetch.ts';

interface OpenRequest {
  readonly stop: AbortController;
  readonly settle: (error?: unknown) => void;
}

/** What the SDK's transport fetches by. */
interface Fetches {
  readonly linkFetch: LinkFetch;
  /** Over the same. */
  readonly resuming: ResumingFetch;
}

/** How long a server may take to end a session. */
const terminationMs = 2_000;

/**
 * Streamable HTTP in which each request has a signal and an end of its own. The SDK's transport below
 * is never started: it would tie every request to one signal of its own, which Node 20 never lets go
 * of, and would wait in silence for the rest of an answer that was cut off.
 */
export class HttpTransport implements Transport {
  readonly hasPerRequestStream = true;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport['onmessage'];
  readonly #inner: StreamableHTTPClientTransport;
  readonly #fetch: LinkFetch;
  readonly #resuming: ResumingFetch;
  readonly #open = new Map<RequestId, OpenRequest>();
  readonly #asked = new AskedIds();
  #isClosed = false;

  constructor(inner: StreamableHTTPClientTransport, { linkFetch, resuming }: Fetches) {
    this.#inner = inner;
    this.#fetch = linkFetch;
    this.#resuming = resuming;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  /** Requests whose answer has not come. */
  get openCount(): number {
    return this.#open.size;
  }

  async start(): Promise<void> {
    // The SDK's transports have no other way to be listened to.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.#inner.onmessage = (came: JSONRPCMessage) => {
      const message = this.#asked.received(came);
      this.onmessage?.(message);
      if (!('method' in message) && message.id !== undefined) {
        this.#open.get(message.id)?.settle();
      }
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.#inner.onerror = (error) => this.onerror?.(error);
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  /** For a request it resolves when the answer has come, and rejects when none will. */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (this.#isClosed) throw linkClosed();
    this.#asked.noteSent(message);
    const isFollowed = options.onRequestStreamEnd !== undefined;
    if ('method' in message && 'id' in message && !isFollowed) {
      return this.#request(message, message.id, options);
    }
    await this.#inner.send(message, defined(options));
    this.#endCancelled(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#terminateSession();
    for (const { stop, settle } of this.#open.values()) {
      settle(answerCutOff());
      stop.abort();
    }
    this.#fetch.close();
    this.onclose?.();
  }

  async #request(
    message: JSONRPCMessage,
    id: RequestId,
    options: TransportSendOptions,
  ): Promise<void> {
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    options.requestSignal?.addEventListener('abort', onAbort, { once: true });
    if (options.requestSignal?.aborted) onAbort();
    try {
      await new Promise<void>((resolve, reject) => {
        const settle = (error?: unknown) => (error === undefined ? resolve() : reject(error));
        this.#open.set(id, { stop, settle });
        const onRequestStreamEnd = () => {
          settle(this.#fetch.failureOf(stop.signal) ?? answerCutOff());
        };
        const onSent = () => {
          const failure = this.#fetch.failureOf(stop.signal);
          if (failure) settle(failure);
        };
        stop.signal.addEventListener('abort', () => resolve(), { once: true });
        this.#inner
          .send(message, {
            ...defined(options),
            requestSignal: stop.signal,
            onRequestStreamEnd,
          })
          .then(onSent, reject);
      });
    } finally {
      this.#resuming.settle(stop.signal);
      this.#open.delete(id);
      this.#asked.forget(id);
      options.requestSignal?.removeEventListener('abort', onAbort);
    }
  }

  /** Servers before 2026-07-28 leave the stream of a cancelled request open. */
  #endCancelled(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    const id: unknown = message.params?.['requestId'];
    if (typeof id === 'number' || typeof id === 'string') this.#open.get(id)?.stop.abort();
  }

  async #terminateSession(): Promise<void> {
    if (this.#inner.sessionId === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, terminationMs);
    });
    // A server that is gone has no session to end.
    await Promise.race([this.#inner.terminateSession().catch(() => {}), late]);
    clearTimeout(timer);
  }
}

type InnerOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

/** The same options; the two types differ in whether a missing one may be written as undefined. */
function defined(options: TransportSendOptions): InnerOptions {
  return options as InnerOptions;
}
