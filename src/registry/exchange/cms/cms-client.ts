import type { Egress, EgressResponse } from '../../../kit/egress/egress.ts';
import { Fault } from '../../../kit/errors.ts';
import { isBelow } from './cms-address.ts';
import {
  identify,
  readRecord,
  readRecordId,
  type CmsRecord,
  type UnreadRecord,
} from './cms-record.ts';
import { isRecord, recordOf, textOf, type Json } from '../json-values.ts';

export interface CmsClientOptions {
  readonly egress: Egress;
  /** In the form of `requireAllowedCms`. */
  readonly address: string;
  readonly apiKey: string;
  readonly syncId: string;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** For each request; 10,000 unless told. */
  readonly timeoutMs?: number | undefined;
}

export interface CmsListing {
  readonly records: readonly CmsRecord[];
  readonly unread: readonly UnreadRecord[];
  /** Why not all pages are there; what is not listed is not known to be removed then. */
  readonly cut: Fault | undefined;
  /** The tag of a listing of one page (RFC 9110 section 8.8.3). */
  readonly tag: string | undefined;
}

const serversPath = '/api/mcp/servers';
const bundlesPath = '/api/mcp/bundles';
const healthPath = '/api/mcp/health';
const pagesMax = 100;
const recordsMax = 10_000;
const pageBytesMax = 4 * 1024 * 1024;
const attemptsMax = 2;

/**
 * Speaks with one CMS during one sync. Faults: `upstream` for all that the CMS refuses or answers
 * wrongly (`cms_refused_key`, `cms_refused`, `redirect_refused`, `response_too_large`), `deadline`,
 * `forbidden` (`egress_blocked`). The key goes to the address alone: no redirect is followed.
 */
export class CmsClient {
  readonly #options: CmsClientOptions;

  constructor(options: CmsClientOptions) {
    this.#options = options;
  }

  /** All servers; undefined when they are as they were at the tag. Throws only when the first page fails. */
  async list(tag: string | undefined): Promise<CmsListing | undefined> {
    const known = tag === undefined ? {} : { 'if-none-match': tag };
    const first = await this.#get(`${this.#options.address}${serversPath}`, known);
    if (first.status === 304 && tag !== undefined) return undefined;
    const pages = await this.#pages(first, serversPath);
    const records: CmsRecord[] = [];
    const unread: UnreadRecord[] = [];
    for (const item of pages.items) {
      const record = readRecord(item);
      if (record) records.push(record);
      else unread.push(identify(item));
    }
    const isOnePage = pages.count === 1 && !pages.cut;
    return {
      records,
      unread,
      cut: pages.cut,
      tag: isOnePage ? (first.headers.get('etag') ?? undefined) : undefined,
    };
  }

  /** The names of each record's bundles, by the record's id or name; undefined when the CMS has no bundles. */
  async listBundles(): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
    const first = await this.#get(`${this.#options.address}${bundlesPath}`, {});
    if (first.status === 404) return undefined;
    const bundles = new Map<string, string[]>();
    const { items, cut } = await this.#pages(first, bundlesPath);
    if (cut) throw cut;
    for (const item of items) addBundle(bundles, recordOf(item));
    return bundles;
  }

  /** Answers the record as the CMS has it now, as far as it says. */
  async create(connectionId: string, body: Json): Promise<{ id: string; record?: CmsRecord }> {
    const answer = await this.#write('POST', serversPath, { body, about: connectionId });
    const item = itemOf(answer);
    const location = answer.headers.get('location')?.split('/').at(-1);
    const id = readRecordId(item) ?? readRecordId({ id: location });
    if (id === undefined) throw refused('the CMS does not say which record it made');
    const record = readRecord({ ...recordOf(item), id });
    return { id, ...(record ? { record } : {}) };
  }

  /** Changes fields; a CMS that cannot is given the whole record. */
  async update(id: string, changed: Json, whole: Json): Promise<CmsRecord | undefined> {
    const path = `${serversPath}/${encodeURIComponent(id)}`;
    const patched = await this.#send('PATCH', path, { body: changed, about: id });
    const isUnknown = patched.status === 405 || patched.status === 501;
    const answer = isUnknown
      ? await this.#write('PUT', path, { body: whole, about: id })
      : requireSuccess(patched);
    return readRecord(itemOf(answer));
  }

  /** Also when it is gone already. */
  async remove(id: string): Promise<void> {
    const path = `${serversPath}/${encodeURIComponent(id)}`;
    const answer = await this.#send('DELETE', path, { about: id });
    if (answer.status !== 404 && answer.status !== 410) requireSuccess(answer);
  }

  /** A CMS without health says 404, which is no failure. */
  async pushHealth(body: Json): Promise<void> {
    const answer = await this.#send('POST', healthPath, { body, about: 'health' });
    if (answer.status !== 404 && answer.status !== 405) requireSuccess(answer);
  }

  async #pages(first: EgressResponse, path: string) {
    const items: unknown[] = [];
    const seen = new Set<string>();
    let page = readPage(requireSuccess(first));
    let count = 1;
    items.push(...page.items);
    try {
      while (page.next !== undefined) {
        const url = this.#nextUrl(page.next, path);
        if (seen.has(url) || seen.size >= pagesMax || items.length >= recordsMax) {
          throw new Fault('upstream', 'the listing of the CMS has no end');
        }
        seen.add(url);
        page = readPage(requireSuccess(await this.#get(url, {})));
        items.push(...page.items);
        count++;
      }
    } catch (error) {
      return { items: items.slice(0, recordsMax), count, cut: Fault.from(error) };
    }
    return { items, count, cut: undefined };
  }

  /** A link stays with the CMS: it would be sent the key. */
  #nextUrl(next: Next, path: string): string {
    const { address } = this.#options;
    const own = address + path;
    if ('cursor' in next) return `${own}?cursor=${encodeURIComponent(next.cursor)}`;
    const url = URL.canParse(next.link, own) ? new URL(next.link, own) : undefined;
    if (url && isBelow(url.origin + url.pathname, own)) return url.href;
    throw new Fault('upstream', 'the listing of the CMS goes on at another address', {
      reason: 'redirect_refused',
    });
  }

  #get(url: string, headers: Readonly<Record<string, string>>): Promise<EgressResponse> {
    return this.#fetch(url, { method: 'GET', headers });
  }

  async #write(method: string, path: string, content: Content): Promise<EgressResponse> {
    return requireSuccess(await this.#send(method, path, content));
  }

  #send(method: string, path: string, { body, about }: Content): Promise<EgressResponse> {
    const headers = {
      // One key for each change: a CMS that keeps them would take the second for the first.
      'idempotency-key': `${this.#options.syncId}-${about}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    };
    const request = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    return this.#fetch(this.#options.address + path, request);
  }

  /** Tries once more what a server could not do: the idempotency key makes that harmless. */
  async #fetch(url: string, request: Request): Promise<EgressResponse> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#once(url, request);
      const isPassing = answer.status === 502 || answer.status === 503 || answer.status === 504;
      if (!isPassing || attempt >= attemptsMax) return answer;
    }
  }

  #once(url: string, { method, headers, body }: Request): Promise<EgressResponse> {
    const { egress, apiKey, signal, timeoutMs = 10_000 } = this.#options;
    return egress.fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${apiKey}`,
        'x-api-key': apiKey,
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      signal,
      timeoutMs,
      responseBytesMax: pageBytesMax,
      isRedirectFollowed: false,
    });
  }
}

interface Content {
  readonly body?: Json;
  /** What is changed, for the idempotency key. */
  readonly about: string;
}

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Next = { readonly link: string } | { readonly cursor: string };

interface Page {
  readonly items: readonly unknown[];
  readonly next: Next | undefined;
}

const listNames = ['data', 'servers', 'bundles', 'items', 'results', 'nodes'];

function readPage(answer: EgressResponse): Page {
  const value = answer.json();
  if (Array.isArray(value)) return { items: value, next: undefined };
  const body = recordOf(value);
  const items = listNames.map((name) => body[name]).find(Array.isArray);
  if (!items) throw new Fault('upstream', 'the answer of the CMS holds no list');
  return { items, next: nextOf(body) };
}

/** JSON:API's `links.next`, a link in `next`, or a cursor. */
function nextOf(body: Json): Next | undefined {
  const told = recordOf(body['links'])['next'] ?? body['next'];
  const link = textOf(isRecord(told) ? told['href'] : told);
  if (link) return { link };
  const meta = recordOf(body['metadata'] ?? body['meta']);
  const cursor = textOf(body['nextCursor'] ?? body['next_cursor'] ?? meta['nextCursor']);
  return cursor ? { cursor } : undefined;
}

/** The record in an answer, which may be wrapped; an answer without content has none. */
function itemOf(answer: EgressResponse): unknown {
  if (answer.body.length === 0) return undefined;
  try {
    const body = recordOf(answer.json());
    return [body['data'], body['server']].find(isRecord) ?? body;
  } catch {
    // The change was made; how it was told does not matter.
    return undefined;
  }
}

function addBundle(bundles: Map<string, string[]>, item: Json): void {
  const fields: Json = { ...item, ...recordOf(item['attributes']) };
  const name = textOf(fields['name']) ?? textOf(fields['title']) ?? textOf(fields['label']);
  const members = fields['servers'] ?? fields['members'] ?? fields['field_servers'];
  if (!name || !Array.isArray(members)) return;
  for (const member of members) {
    const key = textOf(member) ?? readRecordId(member) ?? readRecordId({ id: member });
    if (key === undefined) continue;
    const names = bundles.get(key) ?? [];
    bundles.set(key, [...names, name].toSorted());
  }
}

function requireSuccess(answer: EgressResponse): EgressResponse {
  const { status } = answer;
  if (status >= 200 && status < 300) return answer;
  if (status === 401 || status === 403) {
    const message = `the CMS refuses the key (${status})`;
    throw new Fault('upstream', message, { reason: 'cms_refused_key' });
  }
  throw refused(`the CMS answers ${status}`);
}

function refused(message: string): Fault {
  return new Fault('upstream', message, { reason: 'cms_refused' });
}
