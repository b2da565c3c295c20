import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { Fault, hasErrorCode } from '../errors.ts';

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array | null;
  /** Bounds what arrives and what it inflates to. */
  readonly responseBytesMax: number;
  /** Ends the exchange; its reason is thrown. */
  readonly signal: AbortSignal;
}

export interface Exchange {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * One request and its answer, no redirect followed. The body arrives decoded, and its
 * `content-encoding` and `content-length` are gone then.
 */
export async function exchange(options: ExchangeOptions): Promise<Exchange> {
  const raw = await dispatch(options);
  const encoding = raw.headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  const decode = decoders.get(encoding);
  if (!decode || raw.body.length === 0) return raw;
  raw.headers.delete('content-encoding');
  raw.headers.delete('content-length');
  return { ...raw, body: await decodeBounded(decode, raw.body, options.responseBytesMax) };
}

function dispatch(options: ExchangeOptions): Promise<Exchange> {
  const { dispatcher, url, method, headers, body, signal } = options;
  return new Promise((resolve, reject) => {
    const collector = new Collector(options, resolve, reject);
    const request: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: Object.fromEntries(headers),
      body,
      // The signal is the only clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    signal.addEventListener('abort', () => collector.abort(signal.reason), { once: true });
    if (signal.aborted) collector.abort(signal.reason);
    else dispatcher.dispatch(request, collector);
  });
}

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

async function decodeBounded(decode: Decode, body: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await decode(body, { maxOutputLength: bytesMax });
  } catch (error) {
    if (hasErrorCode(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLargeFault(bytesMax);
    throw unusableFault(error);
  }
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #resolve: (exchange: Exchange) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #chunks: Buffer[] = [];
  readonly #headers = new Headers();
  #byteCount = 0;
  #status = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: unknown;

  constructor(
    options: ExchangeOptions,
    resolve: (exchange: Exchange) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Gives up with this reason; a deadline that strikes before a connection is an unreachable one. */
  abort(reason: unknown): void {
    const isLate = reason instanceof Error && reason.name === 'TimeoutError';
    this.#failure ??= isLate && !this.#controller ? unreachableFault(reason) : reason;
    this.#reject(this.#failure);
    this.#controller?.abort(asError(this.#failure));
  }

  /** undici calls this when a connection stands and the request is about to be written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== undefined) controller.abort(asError(this.#failure));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    for (const [name, value = []] of Object.entries(headers)) {
      for (const one of [value].flat()) this.#headers.append(name, one);
    }
    const announced = Number(this.#headers.get('content-length') ?? 0);
    const isBodied = this.#options.method !== 'HEAD';
    if (isBodied && announced > this.#options.responseBytesMax) this.#refuseSize();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#byteCount += chunk.length;
    if (this.#byteCount > this.#options.responseBytesMax) this.#refuseSize();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(this.#failure ?? this.#explain(error));
  }

  #refuseSize(): void {
    this.abort(tooLargeFault(this.#options.responseBytesMax));
  }

  #explain(error: unknown): Fault {
    if (error instanceof Fault) return error;
    if (hasErrorCode(error, 'UND_ERR_INVALID_ARG')) {
      return new Fault('invalid', 'the request cannot be sent as it is', { cause: error });
    }
    return this.#controller ? unusableFault(error) : unreachableFault(error);
  }
}

/** One sentence for whatever kept a connection from standing: it must not become a port scan. */
function unreachableFault(cause: unknown): Fault {
  return new Fault('upstream', 'the address cannot be reached', { cause });
}

function unusableFault(cause: unknown): Fault {
  return new Fault('upstream', 'the address gave no usable answer', { cause });
}

function tooLargeFault(bytesMax: number): Fault {
  const message = `the answer is larger than ${bytesMax} bytes`;
  return new Fault('upstream', message, { reason: 'response_too_large' });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
