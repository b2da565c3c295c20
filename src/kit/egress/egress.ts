import { lookup as resolveName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { createAddressCheck, type EgressPolicy } from './addresses.ts';
import { blockedFault, createAgent, createLookup, type DialOptions } from './dial.ts';
import { exchange, type Exchange } from './exchange.ts';
import { decodeText } from './text.ts';
import { findRedirect, redirectHop, type Hop } from './redirects.ts';
import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';

export type EgressScheme = 'http' | 'https' | 'ws' | 'wss';

export interface EgressRequest {
  /** GET unless told. */
  readonly method?: string;
  /** Refused with `invalid` when they hold `host` or a header that frames the message. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together, redirects included; 10,000 unless told. */
  readonly timeoutMs?: number;
  /** The most that may arrive, and the most it may inflate to; 1 MiB unless told. */
  readonly responseBytesMax?: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * True unless told. False refuses a redirect with `upstream` (`redirect_refused`): for requests
   * that carry secrets in their body, which 307 and 308 would send on to wherever they point.
   */
  readonly isRedirectFollowed?: boolean;
  /** Statuses of redirects that are answers as they came, neither followed nor refused; none unless told. */
  readonly answeredRedirects?: readonly number[] | undefined;
}

export interface EgressResponse {
  /** Any status is an answer; redirects are followed unless the request says otherwise. */
  readonly status: number;
  readonly headers: Headers;
  /** Decoded: gzip, deflate and brotli are undone. */
  readonly body: Buffer;
  /** In the charset that the answer names, else in UTF-8; without a byte order mark. */
  text(): string;
  /** Throws `upstream` when the body is no JSON. */
  json(): unknown;
}

/** What is asked of an address beyond what the guard asks of all. */
export interface UrlRules {
  /** http and https unless told. */
  readonly schemes?: readonly EgressScheme[];
  /** Where the caller gave the address, named in the refusal: `endpoints.rest`. */
  readonly field?: string;
}

/** The guard for every request to an address that a caller supplied. The caller disposes of it. */
export interface Egress extends AsyncDisposable {
  /**
   * Throws `invalid` for what is no URL of these schemes (http and https unless told) or holds
   * credentials, and `forbidden` (`egress_blocked`) for an IP literal or localhost that may not be
   * called. Names are judged when they are dialled. Use it when a URL is registered, and before
   * handing a URL to a client that dials by itself: sockets resolve no literal.
   */
  checkUrl(url: string, rules?: UrlRules): URL;
  /**
   * Throws `forbidden` (`egress_blocked`) when the address may not be called, also after a
   * redirect; `deadline` when the answer takes too long; `upstream` for all else that fails, with
   * one sentence for every address that no connection reaches; `cancelled` by the signal.
   */
  fetch(url: string, request?: EgressRequest): Promise<EgressResponse>;
  /** `dns.lookup` for clients that dial by themselves (ws, gRPC); fails with the Fault above. */
  readonly lookup: LookupFunction;
  /** Checks literals and names when it dials; sets no deadline and no bound by itself. */
  readonly dispatcher: Dispatcher;
}

export interface EgressOptions {
  /** Resolves names in place of the system's resolver. */
  readonly lookup?: LookupFunction;
  readonly log?: Log;
}

/** Throws `invalid` when the policy holds what is no CIDR range. */
export function createEgress(policy: EgressPolicy, options: EgressOptions = {}): Egress {
  const isAllowed = createAddressCheck(policy);
  return new GuardedEgress({ isAllowed, resolve: options.lookup ?? resolveName, log: options.log });
}

const redirectsMax = 3;
const defaultTimeoutMs = 10_000;
const defaultBytesMax = 1024 * 1024;

class GuardedEgress implements Egress {
  readonly lookup: LookupFunction;
  readonly dispatcher: Agent;
  readonly #isAllowed: (address: string) => boolean;

  constructor(options: DialOptions) {
    this.lookup = createLookup(options);
    this.dispatcher = createAgent(options);
    this.#isAllowed = options.isAllowed;
  }

  checkUrl(text: string, { schemes = ['http', 'https'], field }: UrlRules = {}): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !schemes.some((scheme) => url.protocol === `${scheme}:`)) {
      throw badUrl(`must be a URL of ${schemes.join(', ')}`, field);
    }
    if (url.username || url.password) {
      throw badUrl('must not hold a user name or password', field);
    }
    // The URL parser has turned decimal, hex, octal and short forms into the plain one.
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    const literal = /^(.+\.)?localhost$/.test(host) ? '127.0.0.1' : host;
    if (isIP(literal) !== 0 && !this.#isAllowed(literal)) throw blockedFault(host, field);
    return url;
  }

  async fetch(url: string, request: EgressRequest = {}): Promise<EgressResponse> {
    const { timeoutMs = defaultTimeoutMs, signal } = request;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new DOMException('', 'TimeoutError')), timeoutMs);
    const cancel = (): void => stop.abort(toCancellation(signal?.reason));
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await this.#follow(url, request, stop.signal);
    } catch (error) {
      throw Fault.from(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispatcher.destroy();
  }

  async #follow(url: string, request: EgressRequest, signal: AbortSignal): Promise<EgressResponse> {
    const { method = 'GET', body = null, responseBytesMax = defaultBytesMax } = request;
    const { isRedirectFollowed = true, answeredRedirects = [] } = request;
    const headers = readHeaders(request.headers);
    let hop: Hop = { url: this.checkUrl(url), method: method.toUpperCase(), headers, body };
    for (let count = 0; count <= redirectsMax; count++) {
      const { dispatcher } = this;
      const answer = await exchange({ ...hop, dispatcher, responseBytesMax, signal });
      const location = findRedirect(answer.status, answer.headers);
      const isAnswer = location === undefined || answeredRedirects.includes(answer.status);
      if (isAnswer) return toResponse(answer);
      if (!isRedirectFollowed) throw redirectRefused();
      hop = redirectHop(hop, answer.status, this.#checkLocation(location, hop.url));
    }
    throw new Fault('upstream', `the address redirects more than ${redirectsMax} times`);
  }

  #checkLocation(location: string, current: URL): URL {
    try {
      return this.checkUrl(new URL(location, current).href);
    } catch (error) {
      if (error instanceof Fault && error.code === 'forbidden') throw error;
      const message = 'the address redirects to what cannot be called';
      throw new Fault('upstream', message, { cause: error });
    }
  }
}

function redirectRefused(): Fault {
  return new Fault('upstream', 'the address redirects, which this request does not follow', {
    reason: 'redirect_refused',
  });
}

/** Headers that name the target or frame the message: they belong to the client alone. */
export const framingHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

function readHeaders(entries: Readonly<Record<string, string>> = {}): Headers {
  const headers = toHeaders(entries);
  const reserved = [...framingHeaders].find((name) => headers.has(name));
  if (reserved) throw new Fault('invalid', `the header "${reserved}" cannot be set`);
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'gzip, deflate, br');
  return headers;
}

function toHeaders(entries: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers(entries);
  } catch (error) {
    throw new Fault('invalid', 'a header holds what HTTP cannot carry', { cause: error });
  }
}

function toResponse({ status, headers, body }: Exchange): EgressResponse {
  const text = (): string => decodeText(body, headers.get('content-type'));
  const json = (): unknown => {
    try {
      return JSON.parse(text());
    } catch (error) {
      throw new Fault('upstream', 'the answer is no JSON', { cause: error });
    }
  };
  return { status, headers, body, text, json };
}

function badUrl(rule: string, field: string | undefined): Fault {
  if (field === undefined) return new Fault('invalid', `the address ${rule}`);
  return new Fault('invalid', `${field} ${rule}`, {
    reason: 'validation_error',
    detail: { param: field },
  });
}

/** A caller's own deadline stays one; any other reason to stop is a cancellation. */
function toCancellation(reason: unknown): unknown {
  const isDeadline = reason instanceof Error && reason.name === 'TimeoutError';
  return isDeadline
    ? reason
    : new Fault('cancelled', 'the request was cancelled', { cause: reason });
}
