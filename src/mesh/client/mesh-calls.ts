import { Fault } from '../../kit/errors.ts';

/** The token itself, or whatever gets one that is good now. */
export type TokenSource = string | (() => string | Promise<string>);

export interface MeshCallsOptions {
  readonly url: string;
  readonly token: TokenSource;
}

export interface MeshCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** 30,000 unless told. */
  readonly timeoutMs?: number;
}

/** Calls the mesh as its REST interface says. */
export class MeshCalls {
  readonly #url: string;
  readonly #token: TokenSource;

  constructor({ url, token }: MeshCallsOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
  }

  /** The answer's JSON; throws the Fault that the mesh refused with, `unavailable` when it is away. */
  async send(call: MeshCall): Promise<unknown> {
    const { method, path, body, signal, timeoutMs = 30_000 } = call;
    const clock = AbortSignal.timeout(timeoutMs);
    const token = typeof this.#token === 'string' ? this.#token : await this.#token();
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, clock]) : clock,
    }).catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw new Fault('unavailable', 'the mesh cannot be reached', { cause });
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    throw refusalOf(response, answer);
  }
}

interface Refusal {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

function refusalOf({ status, headers }: Response, answer: unknown): Fault {
  const { error = {} } = (answer ?? {}) as Refusal;
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  return new Fault(Fault.codeOf(status), error.message ?? `the mesh answered ${status}`, {
    ...(error.code === undefined ? {} : { reason: error.code.toLowerCase() }),
    ...(error.details === undefined ? {} : { detail: error.details }),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  });
}
