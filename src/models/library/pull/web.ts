import { get as getPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { get as getEncrypted } from 'node:https';
import { findRedirect } from '../../../kit/egress/redirects.ts';
import type { Egress } from '../../../kit/egress/egress.ts';
import { Fault } from '../../../kit/errors.ts';
import { readRetryAfter } from '../../../kit/time/retry-after.ts';
import type { AllowList } from './allow-list.ts';

/** An answer whose body is still to be read, or to be ended with `body.destroy()`. */
export interface WebAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: IncomingMessage;
}

export interface WebRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent to the address's own origin only, never to where it redirects. */
  readonly secretHeaders?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface PullWebOptions {
  readonly egress: Egress;
  readonly allowList: AllowList;
  /** Without a byte for so long, an answer has failed. */
  readonly stallMs: number;
}

interface Document {
  readonly value: unknown;
  /** Where the next part of the listing is that this is a part of (RFC 8288). */
  readonly next: string | undefined;
}

const redirectsMax = 5;
const pagesMax = 32;
const documentBytesMax = 8 * 1024 * 1024;

/** GET requests to allowed hosts only, also behind redirects, by connections that are guarded. */
export class PullWeb {
  readonly #options: PullWebOptions;

  constructor(options: PullWebOptions) {
    this.#options = options;
  }

  /** Answers the head of whatever comes after redirects; Fault `forbidden` on the way to elsewhere. */
  async open(address: string, { headers, secretHeaders, signal }: WebRequest): Promise<WebAnswer> {
    let url = this.#check(address);
    const { origin } = url;
    for (let count = 0; count <= redirectsMax; count++) {
      const secrets = url.origin === origin ? secretHeaders : {};
      const answer = await this.#send(url, { headers: { ...headers, ...secrets }, signal });
      const location = findRedirect(answer.status, answer.headers);
      if (location === undefined) return answer;
      answer.body.destroy();
      url = this.#next(location, url);
    }
    throw new Fault('upstream', `${origin} redirects more than ${redirectsMax} times`);
  }

  /** A JSON document; Faults `not_found`, `forbidden`, `upstream` for any answer but 200. */
  async document(address: string, wanted: WebRequest): Promise<unknown> {
    return (await this.#document(address, wanted)).value;
  }

  /** As `document`, of a listing that may come in pages; all pages are of one origin. */
  async *pages(address: string, wanted: WebRequest): AsyncGenerator {
    const { origin } = new URL(address);
    let next: string | undefined = address;
    for (let count = 0; next !== undefined; count++) {
      if (count === pagesMax) {
        throw new Fault('upstream', `${hostOf(address)} lists more than ${pagesMax} pages`);
      }
      const page: Document = await this.#document(next, wanted);
      yield page.value;
      next = page.next === undefined ? undefined : pageOf(page.next, next);
      if (next !== undefined && new URL(next).origin !== origin) {
        throw new Fault('upstream', `${hostOf(address)} lists pages of another host`);
      }
    }
  }

  async #document(address: string, wanted: WebRequest): Promise<Document> {
    try {
      return await this.#readDocument(address, wanted);
    } catch (error) {
      throw connectionFault(error, address, wanted.signal);
    }
  }

  async #readDocument(address: string, wanted: WebRequest): Promise<Document> {
    const { status, headers, body } = await this.open(address, wanted);
    if (status !== 200) {
      body.destroy();
      throw refusal(address, { status, headers });
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > documentBytesMax)
        throw new Fault('upstream', `${hostOf(address)} answers too much`);
      chunks.push(chunk);
    }
    return { value: parse(Buffer.concat(chunks), address), next: findNext(headers) };
  }

  #check(address: string): URL {
    const url = this.#options.egress.checkUrl(address);
    this.#options.allowList.check(url);
    return url;
  }

  #next(location: string, current: URL): URL {
    if (!URL.canParse(location, current.href)) {
      throw new Fault('upstream', `${current.host} redirects to what is no address`);
    }
    const next = this.#check(new URL(location, current).href);
    if (current.protocol !== 'https:' || next.protocol === 'https:') return next;
    throw new Fault('forbidden', `${current.host} redirects to an address without encryption`);
  }

  /**
   * By Node's own client: undici 7 ends the process when a server closes its connection while the
   * disk is slower than the network (nodejs/undici#5360).
   */
  #send(url: URL, { headers, signal }: WebRequest): Promise<WebAnswer> {
    const { egress, stallMs } = this.#options;
    const options: RequestOptions = {
      // A connection of its own, so that each one is checked when it is made.
      agent: false,
      lookup: egress.lookup,
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': 'ennead' },
      timeout: stallMs,
      signal,
    };
    return new Promise((resolve, reject) => {
      const get = url.protocol === 'https:' ? getEncrypted : getPlain;
      const request = get(url, options, (answer) => {
        // An answer that nobody reads may break all the same.
        const body = answer.on('error', () => {});
        resolve({ status: answer.statusCode ?? 0, headers: toHeaders(answer.headers), body });
      });
      request.on('error', reject);
      request.on('timeout', () => request.destroy(new Error('the source is silent')));
    });
  }
}

/** The Fault that a refusing answer of a source stands for. */
export function refusal(
  address: string,
  { status, headers }: { readonly status: number; readonly headers: Headers },
): Fault {
  const host = hostOf(address);
  if (status === 404 || status === 410) {
    return new Fault('not_found', `${host} has no such model`, { reason: 'model_not_found' });
  }
  if (status === 401 || status === 403) {
    const message = `${host} does not give this model to us (status ${status}): it may not exist, or want an account that accepted its licence`;
    return new Fault('forbidden', message, { reason: 'pull_refused' });
  }
  const retryAfter = readRetryAfter(headers.get('retry-after'));
  const isPassing = status >= 500 || passingStatuses.has(status);
  return new Fault('upstream', `${host} answers with status ${status}`, {
    reason: isPassing ? 'pull_cut' : 'bad_source',
    ...(retryAfter ? { retryAfter } : {}),
  });
}

/** Request timeout, too early, too many requests. */
const passingStatuses = new Set([408, 425, 429]);

/** What a broken connection means: `cancelled` when we ended it, else `upstream` (`pull_cut`). */
export function connectionFault(error: unknown, address: string, signal: AbortSignal): Fault {
  if (signal.aborted) return new Fault('cancelled', 'the pull was cancelled', { cause: error });
  if (error instanceof Fault) return error;
  return new Fault('upstream', `${hostOf(address)} cannot be reached, or stopped sending`, {
    cause: error,
    reason: 'pull_cut',
  });
}

function hostOf(address: string): string {
  return new URL(address).host;
}

/** The target of the link to the next page. */
function findNext(headers: Headers): string | undefined {
  const links = headers.get('link') ?? '';
  return /<([^>]*)>[^<]*;\s*rel="?next"?/i.exec(links)?.[1];
}

function pageOf(target: string, current: string): string {
  if (URL.canParse(target, current)) return new URL(target, current).href;
  throw new Fault('upstream', `${hostOf(current)} lists a page at what is no address`);
}

function parse(body: Buffer, address: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new Fault('upstream', `${hostOf(address)} answers no JSON`, { cause: error });
  }
}

function toHeaders(entries: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(entries)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return headers;
}
