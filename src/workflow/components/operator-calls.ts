import { request as send } from 'undici';
import { Fault } from '../../kit/errors.ts';
import type { Secret } from '../../kit/config.ts';
import type { NodeContext } from './component.ts';
import { readRetryAfter } from '../../kit/time/retry-after.ts';

/** A request to a system whose address the operator set, which may lie in a private network. */
export interface OperatorRequest {
  readonly method: string;
  /** Below the address, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface OperatorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined where the answer is empty, or no JSON. */
  readonly json: unknown;
}

/** What a request takes from the node that causes it. */
export type OperatorContext = Pick<NodeContext, 'signal' | 'timeoutMs'>;

const bytesMax = 8 * 1024 * 1024;

/**
 * Calls a system of the operator's; any status below 300, or of 400 and above, is an answer. Redirects
 * are refused, for credentials travel along. The reasons of failures begin with the system's name:
 * `<name>_unreachable`, `<name>_timeout`, `<name>_failed`.
 */
export class OperatorCalls {
  readonly #name: string;
  readonly #baseUrl: string;

  constructor(name: string, baseUrl: string) {
    this.#name = name;
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  async send(
    { method, path, headers, body }: OperatorRequest,
    { signal, timeoutMs }: OperatorContext,
  ): Promise<OperatorAnswer> {
    const deadline = AbortSignal.timeout(Math.max(1, Math.floor(timeoutMs * 0.95)));
    try {
      const answer = await send(this.#baseUrl + path, {
        method,
        headers: { 'user-agent': 'ennead-workflow', ...headers },
        body: body ?? null,
        signal: AbortSignal.any([signal, deadline]),
      });
      const json = parse(await this.#read(answer.body));
      const { statusCode: status } = answer;
      if (status >= 300 && status < 400) throw this.#fault('failed', 'redirects');
      return { status, headers: answer.headers, json };
    } catch (error) {
      throw this.#explain(error, signal, deadline);
    }
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw this.#fault('failed', 'answered more than 8 MiB');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  #explain(error: unknown, signal: AbortSignal, deadline: AbortSignal): Fault {
    if (error instanceof Fault) return error;
    if (signal.aborted) return Fault.from(signal.reason);
    const name = this.#name.toUpperCase();
    const [code, end, words] = deadline.aborted
      ? (['deadline', 'timeout', 'did not answer in time'] as const)
      : (['unavailable', 'unreachable', 'cannot be reached'] as const);
    return new Fault(code, `the ${name} ${words}`, {
      reason: `${this.#name}_${end}`,
      cause: error,
    });
  }

  #fault(end: string, words: string): Fault {
    const message = `the ${this.#name.toUpperCase()} ${words}`;
    return new Fault('upstream', message, { reason: `${this.#name}_${end}` });
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The Fault that a status stands for, in the words of the system's own message. */
export function refusalOf(
  { status, headers }: OperatorAnswer,
  {
    name,
    message,
    detail = {},
  }: {
    readonly name: string;
    readonly message: string | undefined;
    readonly detail?: Readonly<Record<string, unknown>>;
  },
): Fault {
  const [code, end] = meanings.get(status) ?? (status >= 500 ? serverFailure : clientFailure);
  const retryAfter = readRetryAfter([headers['retry-after']].flat()[0]);
  const words = message === undefined || message === '' ? `answered ${status}` : message;
  return new Fault(code, `the ${name.toUpperCase()}: ${words.slice(0, 1_000)}`, {
    reason: `${name}_${end}`,
    detail: { status, ...detail },
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

const serverFailure = ['upstream', 'failed'] as const;
const clientFailure = ['invalid', 'rejected'] as const;
const meanings = new Map([
  [401, ['forbidden', 'unauthorized'] as const],
  [403, ['forbidden', 'forbidden'] as const],
  [404, ['not_found', 'not_found'] as const],
  [409, ['conflict', 'conflict'] as const],
  [429, ['exhausted', 'rate_limited'] as const],
  [503, ['unavailable', 'unavailable'] as const],
]);

/** The header of a credential in the settings. */
export function authorizationOf(credential: {
  readonly token?: Secret | undefined;
  readonly basicAuth?: Secret | undefined;
}): Readonly<Record<string, string>> {
  const { token, basicAuth } = credential;
  if (token) return { authorization: `Bearer ${token.reveal()}` };
  if (!basicAuth) return {};
  const encoded = Buffer.from(basicAuth.reveal()).toString('base64');
  return { authorization: `Basic ${encoded}` };
}
