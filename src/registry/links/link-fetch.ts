import type { Egress } from '../../kit/egress/egress.ts';
import { findRedirect, redirectHop, type Hop } from '../../kit/egress/redirects.ts';
import { Fault } from '../../kit/errors.ts';
import { boundBody, isJson } from './bounded-body.ts';
import {
  answerCutOff,
  authorizationRequired,
  linkClosed,
  notMcp,
  statusFault,
  unreachable,
  waitFault,
  wrongId,
} from './link-faults.ts';
import { dropBody, sendHop, type WireAnswer } from './wire.ts';

/** What a link shows a server that requires authorization. */
export interface Credentials {
  /** The access token to send, if there is one. */
  token(): Promise<string | undefined>;
  /** Called when the server refused that token; undefined when there is no better one, a Fault when that cannot be told. */
  renew(refused: string | undefined): Promise<string | undefined>;
}

export interface LinkFetchOptions {
  readonly egress: Pick<Egress, 'checkUrl' | 'dispatcher'>;
  /** Sent with every request to the endpoint's own origin. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly credentials?: Credentials | undefined;
  /** The most bytes of one answer, or of one event of a stream. */
  readonly bytesMax: number;
}

/** The part of `fetch` that the MCP client uses. */
export interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

const redirectsMax = 3;

/**
 * `fetch` for one link: every address is checked when it is dialled, also after a redirect; answers
 * are bounded while they come; nothing but the running requests listens on anything, and closing it
 * ends them all.
 */
export class LinkFetch {
  readonly #options: LinkFetchOptions;
  readonly #running = new Set<AbortController>();
  readonly #failures = new WeakMap<AbortSignal, Error>();
  #isClosed = false;

  constructor(options: LinkFetchOptions) {
    this.#options = options;
  }

  /** Requests whose answers have not been read to their end. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** Why the answer of the request with this signal broke off, or never begins, where that is known. */
  failureOf(signal: AbortSignal): Error | undefined {
    return this.#failures.get(signal);
  }

  /** Rejects with the Faults of `Link`; statuses but 401, a lost session and a wait are answers. */
  async fetch(url: string | URL, init: FetchInit = {}): Promise<Response> {
    if (this.#isClosed) throw linkClosed();
    const { credentials } = this.#options;
    const token = await credentials?.token();
    const first = await this.#send(url, init, token);
    if (first.status !== 401) return refuse(first, init);
    await first.body?.cancel();
    const renewed = await credentials?.renew(token);
    if (renewed === undefined) throw authorizationRequired();
    const second = await this.#send(url, init, renewed);
    if (second.status !== 401) return refuse(second, init);
    await second.body?.cancel();
    throw authorizationRequired();
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#running) stop.abort(answerCutOff());
  }

  async #send(url: string | URL, init: FetchInit, token: string | undefined): Promise<Response> {
    const stop = new AbortController();
    const outer = init.signal ?? undefined;
    const onAbort = () => stop.abort(outer?.reason);
    outer?.addEventListener('abort', onAbort, { once: true });
    if (outer?.aborted) onAbort();
    this.#running.add(stop);
    const end = (failure?: Error) => {
      this.#running.delete(stop);
      outer?.removeEventListener('abort', onAbort);
      if (failure && outer) this.#failures.set(outer, failure);
    };
    try {
      const answer = await this.#follow(this.#firstHop(url, init, token), stop.signal);
      // It is for what has no answer (MCP 2025-11-25, transports): none will come on another stream.
      if (answer.status === 202 && outer) this.#failures.set(outer, notMcp());
      // It holds all that comes: who does not find the answer in it waits in vain.
      if (isJson(answer) && outer) this.#failures.set(outer, wrongId());
      return await boundBody(answer, { bytesMax: this.#options.bytesMax, stop, onEnd: end });
    } catch (error) {
      end();
      throw toFetchFault(error, stop.signal);
    }
  }

  #firstHop(url: string | URL, init: FetchInit, token: string | undefined): Hop {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(this.#options.headers ?? {})) {
      if (!headers.has(name)) headers.set(name, value);
    }
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const body = typeof init.body === 'string' ? init.body : null;
    const method = init.method ?? 'GET';
    return { url: this.#options.egress.checkUrl(String(url)), method, headers, body };
  }

  async #follow(first: Hop, signal: AbortSignal): Promise<WireAnswer> {
    const { egress } = this.#options;
    let hop = first;
    for (let count = 0; count <= redirectsMax; count++) {
      const answer = await sendHop(hop, { dispatcher: egress.dispatcher, signal });
      const location = findRedirect(answer.status, answer.headers);
      if (location === undefined) return answer;
      dropBody(answer);
      const target = this.#targetOf(location, hop);
      hop = keepMcpHeaders(hop, redirectHop(hop, answer.status, target));
    }
    throw new Fault('upstream', `the server redirects more than ${redirectsMax} times`, {
      reason: 'redirect_loop',
    });
  }

  /** What the guard calls no address at all is the server's mistake, for the caller gave none. */
  #targetOf(location: string, { url }: Hop): URL {
    try {
      return this.#options.egress.checkUrl(new URL(location, url).href);
    } catch (error) {
      const cause = Fault.from(error);
      if (error instanceof Fault && cause.code !== 'invalid') throw error;
      const sentence = 'the server redirects to an address that cannot be called';
      throw new Fault('upstream', sentence, { reason: 'redirect_refused', cause });
    }
  }
}

/** They say what the message says too; secrets (`authorization`, the endpoint's own) stay behind. */
function keepMcpHeaders(from: Hop, to: Hop): Hop {
  for (const [name, value] of from.headers) {
    if (name.startsWith('mcp-')) to.headers.set(name, value);
  }
  return to;
}

/** What says more than its status, as the client reads nothing else. */
function refuse(response: Response, init: FetchInit): Promise<Response> {
  const retryAfter = response.headers.get('retry-after');
  const isWait = retryAfter !== null && waitStatuses.has(response.status);
  return isWait ? refuseForNow(response, retryAfter) : refuseLostSession(response, init);
}

/** RFC 6585, section 4, and RFC 9110, section 15.6.4. */
const waitStatuses: ReadonlySet<number> = new Set([429, 503]);

async function refuseForNow(response: Response, retryAfter: string): Promise<never> {
  throw waitFault(response.status, retryAfter, await response.text());
}

/** 404 for a session ends it (MCP 2025-11-25, transports); some servers answer 400 instead. */
async function refuseLostSession(response: Response, init: FetchInit): Promise<Response> {
  if (response.status !== 404 && response.status !== 400) return response;
  if (!new Headers(init.headers).has('mcp-session-id')) return response;
  const text = await response.text();
  if (response.status === 404 || /session/i.test(text)) {
    throw new Fault('unavailable', 'the server has forgotten the session', {
      reason: 'session_lost',
      cause: statusFault(response.status),
    });
  }
  const { status, headers } = response;
  return new Response(text, { status, headers });
}

/** Codes of a connection that stood and ended under the request. */
const cutCodes: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Codes of an answer that is none; all others must not tell a closed port from a filter. */
const brokenCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

function toFetchFault(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof Fault) return error;
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (cutCodes.has(code)) return answerCutOff(error);
  const isBroken = brokenCodes.has(code) || String(code).startsWith('HPE_');
  return isBroken
    ? new Fault('upstream', 'the server gave no usable answer', { reason: 'not_mcp', cause: error })
    : unreachable(error);
}
