import { Fault } from '../../kit/errors.ts';
import type { SpanCriteria } from './matches-view.ts';

/** The query of Jaeger's trace search as it comes: every value a text, an empty one as good as none. */
export type JaegerQueryText = Readonly<Record<JaegerParameter, Texts | undefined>>;

export type JaegerParameter =
  | 'service'
  | 'operation'
  | 'tag'
  | 'tags'
  | 'start'
  | 'end'
  | 'minDuration'
  | 'maxDuration'
  | 'limit'
  | 'lookback'
  | 'traceID';

/** A parameter that stands once, or several times. */
export type Texts = string | readonly string[];

export interface JaegerQuery {
  /** Of these traces only, whatever they hold. */
  readonly traceIds: readonly string[];
  readonly criteria: SpanCriteria;
  readonly limit: number;
}

/** How many traces a search answers at most. */
export const limitMax = 1500;
const limitDefault = 20;
const lookbackUsDefault = 48 * 3_600_000_000;

/** Reads a query; throws `invalid` with the name of the parameter. `now` is milliseconds. */
export function readJaegerQuery(query: Partial<JaegerQueryText>, now: number): JaegerQuery {
  const toUs = readMicroseconds('end', lastOf(query.end)) ?? now * 1000;
  const lookbackUs = readDuration('lookback', lookbackOf(query)) ?? lookbackUsDefault;
  return {
    traceIds: textsOf(query.traceID).map(readTraceId),
    limit: readLimit(lastOf(query.limit)),
    criteria: {
      service: lastOf(query.service),
      operation: readOperation(lastOf(query.operation)),
      fromUs: readMicroseconds('start', lastOf(query.start)) ?? toUs - lookbackUs,
      toUs,
      durationUsMin: readDuration('minDuration', lastOf(query.minDuration)),
      durationUsMax: readDuration('maxDuration', lastOf(query.maxDuration), Math.floor),
      tags: readTagFilters(query),
    },
  };
}

/** A trace's id in full: 32 digits, those before a shorter one are zeros. */
export function readTraceId(text: string): string {
  if (!/^[0-9a-f]{1,32}$/i.test(text))
    throw refusal('traceID', 'must be 1 to 32 hexadecimal digits');
  return text.toLowerCase().padStart(32, '0');
}

/** The last of the texts that are not empty. */
export function lastOf(texts: Texts | undefined): string | undefined {
  return textsOf(texts).at(-1);
}

const unitsNs: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1_000,
  µs: 1_000,
  μs: 1_000,
  ms: 1_000_000,
  s: 1_000_000_000,
  m: 60_000_000_000,
  h: 3_600_000_000_000,
  d: 24 * 3_600_000_000_000,
  w: 7 * 24 * 3_600_000_000_000,
};

/**
 * A duration as Go writes it, `1.5s` or `1h30m`, and days and weeks; in whole microseconds, as those
 * of spans are, of a part of one the next unless told otherwise.
 */
export function readDuration(
  name: string,
  text: string | undefined,
  round: (value: number) => number = Math.ceil,
): number | undefined {
  if (text === undefined) return undefined;
  const isWhole = /^(\d+(\.\d+)?(ns|us|µs|μs|ms|s|m|h|d|w))+$/.test(text);
  if (!isWhole || text.length > 40) throw refusal(name, 'must be a duration such as 1.5s or 200ms');
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)([a-zµμ]+)/g)) {
    // Whole nanoseconds, for 16.1 ms is a little more than 16100 µs in binary.
    sum += Math.round(Number(amount) * (unitsNs[unit] ?? 0));
  }
  const microseconds = round(sum / 1_000);
  if (!Number.isSafeInteger(microseconds)) throw refusal(name, 'must be below 285 years');
  return microseconds;
}

/** A count of milliseconds or microseconds. */
export function readMicroseconds(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) {
    throw refusal(name, 'must be a whole number');
  }
  return value;
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return limitDefault;
  const limit = Number(text);
  if (!/^\d{1,9}$/.test(text) || limit < 1)
    throw refusal('limit', 'must be a whole number above 0');
  return Math.min(limit, limitMax);
}

/** Jaeger UI says `all` for any, and `custom` where start and end say it. */
function readOperation(text: string | undefined): string | undefined {
  return text === 'all' ? undefined : text;
}

function lookbackOf({ lookback }: Partial<JaegerQueryText>): string | undefined {
  const text = lastOf(lookback);
  return text === 'custom' ? undefined : text;
}

function readTagFilters({ tag, tags }: Partial<JaegerQueryText>): Record<string, string> {
  const filters: Record<string, string> = {};
  for (const text of textsOf(tag)) {
    const colon = text.indexOf(':');
    if (colon < 1) throw refusal('tag', 'must be <key>:<value>');
    filters[text.slice(0, colon)] = text.slice(colon + 1);
  }
  for (const text of textsOf(tags)) Object.assign(filters, readTagMap(text));
  return filters;
}

function readTagMap(text: string): Record<string, string> {
  const map = parse(text);
  if (typeof map !== 'object' || map === null || Array.isArray(map)) {
    throw refusal('tags', 'must be a JSON object of texts');
  }
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => {
      if (typeof value === 'object') throw refusal('tags', `must hold texts, also at ${key}`);
      return [key, String(value)];
    }),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textsOf(texts: Texts | undefined): readonly string[] {
  const list = typeof texts === 'string' ? [texts] : (texts ?? []);
  return list.filter((text) => text !== '');
}

function refusal(name: string, demand: string): Fault {
  return new Fault('invalid', `${name} ${demand}`, {
    reason: 'validation_error',
    detail: { param: name },
  });
}
