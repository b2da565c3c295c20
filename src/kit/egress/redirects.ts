import { Fault } from '../errors.ts';

export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array | null;
}

/** Where an answer sends its client (RFC 9110 section 15.4), or nothing; 300 and 304 send nowhere. */
export function findRedirect(status: number, headers: Headers): string | undefined {
  return redirects.has(status) ? (headers.get('location') ?? undefined) : undefined;
}

/**
 * The request to make after a redirect. Another origin gets none but the harmless headers, since
 * any other may be a secret; giving up encryption is refused.
 */
export function redirectHop(hop: Hop, status: number, url: URL): Hop {
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    const message = 'the address redirects to one without encryption';
    throw new Fault('forbidden', message, { reason: 'egress_blocked' });
  }
  const headers = new Headers(hop.headers);
  if (url.origin !== hop.url.origin) keepOnly(headers, harmlessHeaders);
  if (!becomesGet(hop.method, status)) return { ...hop, url, headers };
  for (const name of contentHeaders) headers.delete(name);
  return { url, method: 'GET', headers, body: null };
}

const redirects = new Set([301, 302, 303, 307, 308]);
const contentHeaders = [
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
  'digest',
  'content-digest',
];
const harmlessHeaders = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'user-agent',
  ...contentHeaders,
]);

/** 303 asks for a GET (15.4.4); 301 and 302 turn a POST into one, as every client does (15.4.2). */
function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}

function keepOnly(headers: Headers, names: ReadonlySet<string>): void {
  for (const name of Array.from(headers.keys())) if (!names.has(name)) headers.delete(name);
}
