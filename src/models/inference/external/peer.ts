import { Agent, request, type Dispatcher } from 'undici';
import type { Secret } from '../../../kit/config.ts';
import { Fault } from '../../../kit/errors.ts';
import { readRetryAfter } from '../../../kit/time/retry-after.ts';
import { HiddenValues } from '../../../kit/secrets/hidden-values.ts';
import { refusalOf } from './refusal.ts';

export interface PeerOptions {
  /** For the sentences of Faults. */
  readonly name: string;
  /** Without a slash at the end. */
  readonly url: string;
  readonly apiKey?: Secret | undefined;
}

const documentBytesMax = 64 * 1024 * 1024;
const refusalBytesMax = 64 * 1024;
const connectTimeoutMs = 5_000;
/** A model may take long to load before it says its first word. */
const silenceMs = 600_000;

/** One HTTP server that the operator has named: JSON to it, JSON or a stream from it. */
export class Peer implements AsyncDisposable {
  readonly #options: PeerOptions;
  readonly #secrets: HiddenValues;
  readonly #agent = new Agent({
    connect: { timeout: connectTimeoutMs },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#secrets = new HiddenValues(options.apiKey ? [options.apiKey.reveal()] : []);
  }

  /** Asks for a document; with a body by POST. */
  async ask(path: string, signal: AbortSignal, body?: unknown): Promise<unknown> {
    try {
      const answer = await this.#send(path, signal, body);
      return JSON.parse((await readBody(answer.body, documentBytesMax)).toString('utf8'));
    } catch (error) {
      throw this.#explain(error, signal);
    }
  }

  /** The bytes of an answer as they come; whoever leaves the loop ends the request. */
  async *stream(path: string, signal: AbortSignal, body: unknown): AsyncGenerator<Uint8Array> {
    let answer: Dispatcher.ResponseData | undefined;
    try {
      answer = await this.#send(path, signal, body);
      yield* answer.body as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.#explain(error, signal);
    } finally {
      answer?.body.on('error', () => {}).destroy();
    }
  }

  /** The Fault for an answer that is not understood. */
  misunderstood(cause?: unknown): Fault {
    return new Fault('upstream', `${this.#options.name} gave no usable answer`, { cause });
  }

  /** The Fault for an error that it tells of in a stream. */
  failed(said: string): Fault {
    return new Fault('upstream', `${this.#options.name}: ${this.#secrets.cutFrom(said)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }

  async #send(path: string, signal: AbortSignal, body: unknown): Promise<Dispatcher.ResponseData> {
    const { url, apiKey } = this.#options;
    const answer = await request(url + path, {
      dispatcher: this.#agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: '*/*',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(apiKey && { authorization: `Bearer ${apiKey.reveal()}` }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      // Held back, undici 7 would end this process when the server closes (nodejs/undici#5360).
      highWaterMark: documentBytesMax,
      signal,
    });
    if (answer.statusCode === 200) return answer;
    const text = await readBody(answer.body, refusalBytesMax).catch(() => Buffer.alloc(0));
    throw refusalOf({
      name: this.#options.name,
      status: answer.statusCode,
      retryAfter: readRetryAfter([answer.headers['retry-after']].flat()[0]),
      text: text.toString('utf8'),
      secrets: this.#secrets,
    });
  }

  #explain(error: unknown, signal: AbortSignal): Fault {
    if (signal.aborted) return Fault.from(signal.reason);
    if (error instanceof Fault) return error;
    if (error instanceof SyntaxError) return this.misunderstood(error);
    const { name } = this.#options;
    return new Fault('unavailable', `${name} cannot be reached, or broke off`, {
      cause: error,
      retryAfter: 5,
    });
  }
}

async function readBody(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Fault('upstream', 'the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
