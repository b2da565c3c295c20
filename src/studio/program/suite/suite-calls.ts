import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../kit/errors.ts';

export interface SuiteCallsOptions {
  /** As messages name it. */
  readonly service: string;
  readonly url: string;
  readonly token: () => Promise<string>;
  /** Called when the service refused the token, before the one repetition. */
  readonly forgetToken: () => void;
  readonly signal: AbortSignal;
  /** Of the task that causes the calls. */
  readonly traceparent?: string | undefined;
  /** How long a service may be away before a call fails; 60,000 unless told. */
  readonly awayMs?: number;
}

export interface SuiteCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** 30,000 unless told. */
  readonly timeoutMs?: number;
  /** Does no harm when it is done twice; so do GET and PUT. */
  readonly isRepeatable?: boolean;
}

export interface SuiteAnswer {
  readonly headers: Headers;
  readonly bytes: Buffer;
}

const timeoutMsDefault = 30_000;
const answerBytesMax = 32 * 1024 * 1024;
const triesMax = 4;
const pauseSecondsMax = 30;
/** A suite that was killed is back by then. */
const awayMsDefault = 60_000;
const awayPauseMs = 1_000;
/** What the service refused for now. */
const passing: ReadonlySet<string> = new Set(['exhausted', 'unavailable']);

/**
 * Calls one service of the suite for one task: with the agent's token, the task's `traceparent`, a
 * deadline and a bound on the answer. What is refused for now (429, 503) is asked again when the service
 * says, and a service that is away is waited for, unless the call may have been done and must not be twice.
 * Lighter than the kit's client, which would take longer to load than all of an agent.
 */
export class SuiteCalls {
  readonly #options: SuiteCallsOptions;

  constructor(options: SuiteCallsOptions) {
    this.#options = options;
  }

  /** The answer's JSON; throws the Fault that the service refused with. */
  async json(call: SuiteCall): Promise<unknown> {
    const { bytes } = await this.send(call);
    return bytes.length === 0 ? undefined : parse(bytes);
  }

  /** The answer's bytes; throws the Fault that the service refused with. */
  async send(call: SuiteCall): Promise<SuiteAnswer> {
    let hasNewToken = false;
    for (let tries = 1; ; tries += 1) {
      const { response, bytes } = await this.#sendPatiently(call);
      if (response.ok || response.status === 304) return { headers: response.headers, bytes };
      if (response.status === 401 && !hasNewToken) {
        hasNewToken = true;
        this.#options.forgetToken();
        continue;
      }
      const fault = refusalOf(this.#options.service, response, bytes);
      if (!passing.has(fault.code) || tries >= triesMax) throw fault;
      const pauseMs = Math.min(fault.retryAfter ?? tries, pauseSecondsMax) * 1_000;
      await sleep(pauseMs, undefined, { signal: this.#options.signal });
    }
  }

  /** Waits for a service that is away, as all of them are while the suite starts anew. */
  async #sendPatiently(call: SuiteCall) {
    const { signal, awayMs = awayMsDefault } = this.#options;
    const untilMs = performance.now() + awayMs;
    for (;;) {
      try {
        return await this.#sendOnce(call);
      } catch (error) {
        if (!isAway(error, call) || performance.now() + awayPauseMs > untilMs) throw error;
      }
      await sleep(awayPauseMs, undefined, { signal });
    }
  }

  async #sendOnce(call: SuiteCall) {
    const { service, url, signal } = this.#options;
    const { method, path, body, bytes, timeoutMs = timeoutMsDefault } = call;
    const clock = AbortSignal.timeout(timeoutMs);
    try {
      const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch(url.replace(/\/+$/, '') + path, {
        method,
        headers: await this.#headersOf(call),
        ...(content === undefined ? {} : { body: content as BodyInit }),
        signal: AbortSignal.any([signal, clock]),
      });
      return { response, bytes: await readAll(response) };
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof Fault) throw cause;
      if (clock.aborted) {
        throw new Fault('deadline', `The ${service} did not answer in time.`, { cause });
      }
      throw new Fault('unavailable', `The ${service} cannot be reached.`, { cause });
    }
  }

  async #headersOf({ body, bytes, headers }: SuiteCall): Promise<Record<string, string>> {
    const { token, traceparent } = this.#options;
    return {
      authorization: `Bearer ${await token()}`,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      ...headers,
    };
  }
}

/** Whether nothing answered, and the call can be sent again. */
function isAway(error: unknown, { method, isRepeatable = method !== 'POST' }: SuiteCall): boolean {
  if (!(error instanceof Fault) || error.code !== 'unavailable') return false;
  return isRepeatable || wasNotSent(error.cause);
}

function wasNotSent(cause: unknown): boolean {
  const { cause: inner } = (cause ?? {}) as { readonly cause?: { readonly code?: unknown } };
  return inner?.code === 'ECONNREFUSED';
}

async function readAll(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Node's web streams can be iterated; the platform's types do not say so.
  const body = (response.body ?? []) as AsyncIterable<Uint8Array>;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > answerBytesMax) throw new Fault('upstream', 'The answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new Fault('upstream', 'The answer is no JSON.', { cause });
  }
}

interface Refusal {
  readonly message?: string;
  readonly code?: string | null;
  readonly param?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The Fault that an error answer stands for, whichever service's envelope it came in. */
function refusalOf(service: string, { status, headers }: Response, bytes: Buffer): Fault {
  let body: { readonly error?: string | Refusal; readonly code?: string } = {};
  try {
    body = (JSON.parse(bytes.toString('utf8')) ?? {}) as typeof body;
  } catch {
    // Its status says enough.
  }
  const { error, code } = body;
  const refusal: Refusal =
    typeof error === 'string' ? { message: error, ...(code && { code }) } : (error ?? {});
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  const message = refusal.message ?? `HTTP status ${status}`;
  return new Fault(Fault.codeOf(status), `The ${service} refused: ${message}`, {
    ...(status >= 400 ? { status } : {}),
    detail: { ...refusal.details, ...(refusal.param ? { param: refusal.param } : {}) },
    ...(refusal.code ? { reason: refusal.code.toLowerCase() } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  });
}
