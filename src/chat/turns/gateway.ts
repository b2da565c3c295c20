import { Pool, type Dispatcher } from 'undici';
import { Fault, type Code } from '../../kit/errors.ts';
import { ChunkReader, type ChunkListener } from './chunk-reader.ts';

export interface Question {
  /** Whose limits and budgets hold. */
  readonly credential: string;
  /** A chat completion request, but for how it is to be answered. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly traceparent?: string | undefined;
  readonly signal: AbortSignal;
}

/** Asks models. */
export interface Gateway {
  /**
   * Resolves when the answer is whole. Rejects with what the gateway refuses the question with, with
   * `unavailable` when it breaks off, and with the signal's reason.
   */
  ask(question: Question, listener: ChunkListener): Promise<void>;
}

/** The gateway's own deadlines are shorter; these end what has lost its other end. */
const headersTimeoutMs = 610_000;
const idleTimeoutMs = 180_000;
const refusalBytesMax = 64 * 1024;

/** The gateway behind its interface's completions, which say what an answer costs. */
export class GatewayDoor implements Gateway, AsyncDisposable {
  readonly #path: string;
  readonly #pool: Pool;

  /** `url` without a slash at the end. */
  constructor(url: string) {
    const { origin, pathname } = new URL(url);
    this.#path = `${pathname.replace(/\/$/, '')}/api/v1/chat/completions`;
    this.#pool = new Pool(origin, {
      connect: { timeout: 10_000 },
      keepAliveTimeout: 30_000,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    });
  }

  ask({ credential, body, traceparent, signal }: Question, listener: ChunkListener): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(asError(signal.reason));
      const exchange = new Exchange(new ChunkReader(listener), { resolve, reject, signal });
      this.#pool.dispatch(
        {
          path: this.#path,
          method: 'POST',
          headers: {
            authorization: `Bearer ${credential}`,
            'content-type': 'application/json',
            accept: 'text/event-stream',
            ...(traceparent ? { traceparent } : {}),
          },
          body: JSON.stringify({
            ...body,
            stream: true,
            stream_options: { include_usage: true },
          }),
        },
        exchange,
      );
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}

interface Outcome {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly signal: AbortSignal;
}

/** One question on its way: everything happens in the callbacks of the connection, nothing waits. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #reader: ChunkReader;
  readonly #outcome: Outcome;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: number | undefined;
  #refusal: Buffer[] | undefined;
  #refusalBytes = 0;
  #isOver = false;

  constructor(reader: ChunkReader, outcome: Outcome) {
    this.#reader = reader;
    this.#outcome = outcome;
    outcome.signal.addEventListener('abort', this.#leave);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('nobody waits for the answer'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    const isStream = String(headers['content-type'] ?? '').startsWith('text/event-stream');
    if (status === 200 && isStream) return;
    this.#refusal = [];
    const retryAfter = Number(headers['retry-after']);
    if (Number.isFinite(retryAfter)) this.#retryAfter = retryAfter;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#refusal) return this.#collect(this.#refusal, chunk);
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#fail(asError(error));
      return;
    }
    if (this.#reader.isDone) this.#settle();
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#refusal) this.#fail(this.#readRefusal(this.#refusal));
    else this.#fail(brokenOff());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(this.#status === 0 ? unreachable(error) : brokenOff(error));
  }

  #collect(refusal: Buffer[], chunk: Buffer): void {
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes <= refusalBytesMax) refusal.push(chunk);
    else this.#fail(brokenOff());
  }

  #readRefusal(refusal: readonly Buffer[]): Fault {
    return refusalOf(this.#status, Buffer.concat(refusal).toString(), this.#retryAfter);
  }

  readonly #leave = (): void => this.#fail(asError(this.#outcome.signal.reason));

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#settle(error);
    this.#controller?.abort(error);
  }

  #settle(error?: Error): void {
    this.#isOver = true;
    const { signal, resolve, reject } = this.#outcome;
    signal.removeEventListener('abort', this.#leave);
    if (error) reject(error);
    else resolve();
  }
}

/** The Fault of a refusal in the gateway's envelope, with a status that chat's callers know. */
function refusalOf(status: number, text: string, retryAfter: number | undefined): Fault {
  const { message, type, code, param } = readError(text);
  const reason = (code ?? type ?? 'gateway_error').toLowerCase();
  // A limit of somebody else's than the caller's: to the caller the provider is down for a while.
  const fault = reason === 'provider_rate_limited' ? 'unavailable' : codeOf(status);
  return new Fault(fault, message ?? `the gateway answered with status ${status}`, {
    reason,
    detail: typeof param === 'string' ? { param } : {},
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

/** Statuses that chat's interface does not have become the nearest one that it has. */
function codeOf(status: number): Code {
  // A success that is no stream makes no sense, either.
  if (status >= 500 || status < 400) return 'unavailable';
  const code = Fault.codeOf(status);
  return knownCodes.has(code) ? code : 'invalid';
}

const knownCodes: ReadonlySet<Code> = new Set([
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
  'exhausted',
]);

interface GatewayError {
  readonly type?: string;
  readonly message?: string;
  readonly code?: string | null;
  readonly param?: unknown;
}

function readError(text: string): GatewayError {
  try {
    const { error } = (JSON.parse(text) ?? {}) as { error?: GatewayError };
    return error ?? {};
  } catch {
    return {};
  }
}

function unreachable(cause: Error): Fault {
  return new Fault('unavailable', 'the gateway cannot be reached', {
    cause,
    reason: 'gateway_unreachable',
    retryAfter: 1,
  });
}

function brokenOff(cause?: Error): Fault {
  return new Fault('unavailable', 'the gateway broke its answer off', {
    cause,
    reason: 'gateway_broken_off',
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('aborted', { cause: thrown });
}
