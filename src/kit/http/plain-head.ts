import { jsonType } from '../answers/written-json.ts';

/** What the edge asks of a request's head. */
export interface PlainHead {
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly traceparent: string | undefined;
  readonly 'x-request-id': string | undefined;
  /** Bytes of the body; 0 without one. */
  readonly bodyBytes: number;
  /** Whether the body, if there is one, is JSON as most clients say it. */
  readonly isJson: boolean;
}

const jsonTypes = new Set(['application/json', jsonType]);

/** Those that make a head one that must be read with care. */
const careful = ['content-encoding', 'transfer-encoding', 'expect'];
const asked = [
  'host',
  'authorization',
  'traceparent',
  'x-request-id',
  'content-length',
  'content-type',
];
const names = [...asked, ...careful];
/** Places among the names, by the length of a name, which tells nearly all apart. */
const placesByLength = Array.from({ length: 18 }, (_, length) =>
  [...names.keys()].filter((place) => names[place]?.length === length),
);

/**
 * Reads a head in one pass: the object of all headers, which node:http makes when it is asked for, takes
 * longer. Undefined for a head that wants more care: one of these headers stands twice, or the body comes
 * in pieces, packed, or only when it was asked for.
 */
export function readPlainHead(rawHeaders: readonly string[]): PlainHead | undefined {
  const found: (string | undefined)[] = [none, none, none, none, none, none];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const place = placeOf(rawHeaders[at] ?? '');
    if (place < 0) continue;
    if (place >= asked.length || found[place] !== undefined) return undefined;
    found[place] = rawHeaders[at + 1];
  }
  const [host, authorization, traceparent, requestId, length, type = ''] = found;
  return {
    host,
    authorization,
    traceparent,
    'x-request-id': requestId,
    bodyBytes: Number(length ?? 0),
    isJson: jsonTypes.has(type),
  };
}

const none = undefined;

/** Below 0 for a name that is none of them. */
function placeOf(name: string): number {
  const places = placesByLength[name.length];
  if (!places) return -1;
  for (const place of places) if (names[place] === name) return place;
  return places.length === 0 ? -1 : names.indexOf(name.toLowerCase());
}
