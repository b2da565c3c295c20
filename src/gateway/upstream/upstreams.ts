import { maxHeaderSize } from 'node:http';
import { Agent, errors, type Dispatcher } from 'undici';
import { UpstreamError } from '../dialects/upstream-error.ts';
import type { Provider, Target } from '../providers/provider.ts';

/** What is sent to a provider. */
export interface Outgoing {
  readonly target: Target;
  /** Below the provider's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Hears of an exchange as it goes; `failed` or `ended` comes last, and once. */
export interface UpstreamListener {
  /** There is a connection, and the request goes out on it. */
  sent(): void;
  head(status: number, headers: AnswerHeaders): void;
  data(chunk: Buffer): void;
  ended(): void;
  failed(error: UpstreamError): void;
}

/** A running exchange. */
export interface Ongoing {
  /** Ends it at once; the listener hears `failed` with this error, unless it is over. */
  abort(error: UpstreamError): void;
}

const connectTimeoutMs = 10_000;
const keepAliveMs = 30_000;

/**
 * The connections to all providers: kept alive, and opened as needed. No answer is ever held back:
 * undici 7 ends the process when a provider closes a connection that is (nodejs/undici#5360).
 */
export class Upstreams implements AsyncDisposable {
  readonly #guarded: Dispatcher;
  readonly #addresses = new WeakMap<Provider, Address>();
  readonly #own = new Agent({
    connect: { timeout: connectTimeoutMs },
    keepAliveTimeout: keepAliveMs,
  });

  /** `guarded` dials the addresses that came over the API; those of the operator need no guard. */
  constructor(guarded: Dispatcher) {
    this.#guarded = guarded;
  }

  send(outgoing: Outgoing, listener: UpstreamListener): Ongoing {
    const { provider } = outgoing.target;
    const { origin, pathname } = this.#addressOf(provider);
    const exchange = new Exchange(provider.name, listener);
    const dispatcher = provider.origin === 'api' ? this.#guarded : this.#own;
    dispatcher.dispatch(
      {
        origin,
        path: pathname + outgoing.path,
        method: 'POST',
        headers: outgoing.headers,
        body: outgoing.body,
        // The callers' own deadlines tell a late head from a late token.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      exchange,
    );
    return exchange;
  }

  /** Parsing a URL costs more than the rest of a dispatch. */
  #addressOf(provider: Provider): Address {
    let address = this.#addresses.get(provider);
    if (!address) {
      address = addressOf(provider);
      this.#addresses.set(provider, address);
    }
    return address;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own.destroy();
  }
}

interface Address {
  readonly origin: string;
  /** Without a slash at the end. */
  readonly pathname: string;
}

function addressOf({ baseUrl }: Provider): Address {
  const { origin, pathname } = new URL(baseUrl);
  return { origin, pathname: pathname.replace(/\/+$/, '') };
}

class Exchange implements Ongoing, Dispatcher.DispatchHandler {
  readonly #provider: string;
  readonly #listener: UpstreamListener;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: UpstreamError | undefined;
  #hasHead = false;
  #isOver = false;

  constructor(provider: string, listener: UpstreamListener) {
    this.#provider = provider;
    this.#listener = listener;
  }

  abort(error: UpstreamError): void {
    if (this.#isOver) return;
    this.#aborted = error;
    // First of all: undici tells of the abort in words of its own.
    this.#fail(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(this.#aborted);
    else this.#listener.sent();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: AnswerHeaders,
  ): void {
    this.#hasHead = true;
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity' && coding !== '') {
      const message = `${this.#provider} answered in the coding ${String(coding)}, which nobody asked for`;
      this.abort(UpstreamError.of('encoded', message));
    }
    if (!this.#isOver) this.#listener.head(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver) this.#listener.data(chunk);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.ended();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(this.#hasHead ? this.#brokenOff(error) : this.#withoutHead(error));
  }

  #brokenOff(cause: Error): UpstreamError {
    const message = `${this.#provider} broke its answer off: ${reasonOf(cause)}`;
    return UpstreamError.of('truncated', message, { cause });
  }

  #withoutHead(cause: Error): UpstreamError {
    const flaw = headFlawOf(cause);
    if (flaw) return UpstreamError.of('broken', `${this.#provider} answered ${flaw}`, { cause });
    const message = `${this.#provider} could not be reached: ${reasonOf(cause)}`;
    return UpstreamError.of('unreachable', message, { cause });
  }

  #fail(error: UpstreamError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.failed(error);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  ENOTFOUND: 'its name is unknown',
  EAI_AGAIN: 'its name could not be resolved',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its answer was cut off',
};

/** What a caller may know of it: never an address. */
function reasonOf(error: Error): string {
  const { code, reason } = error as { code?: string; reason?: string };
  if (reason === 'egress_blocked') return 'calls to its address are not allowed';
  return reasons[code ?? ''] ?? 'the connection failed';
}

/** Why the head of an answer was not taken; undefined where none came. */
function headFlawOf(error: Error): string | undefined {
  if (error instanceof errors.HeadersOverflowError)
    return `with more than ${maxHeaderSize} bytes of headers`;
  return error instanceof errors.HTTPParserError ? 'something that is not HTTP' : undefined;
}
