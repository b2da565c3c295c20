import { spanKinds, type SpanHead } from './span.ts';

/** A span for tests; what is not given is that of an internal span of service `shop`. */
export function headOf(
  spanId: string,
  times: readonly [startUs: number, endUs: number],
  facts: Partial<SpanHead> = {},
): SpanHead {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId,
    parentSpanId: undefined,
    service: 'shop',
    name: `op ${spanId}`,
    kind: spanKinds.internal,
    startUs: times[0],
    endUs: times[1],
    isError: false,
    statusMessage: undefined,
    agent: facts.service ?? 'shop',
    host: undefined,
    errorCode: undefined,
    callee: undefined,
    genAi: undefined,
    ...facts,
  };
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * A trace of any shape: several roots, orphans, circles, children that overlap, outlast or miss their
 * parent, spans without duration, and hosts whose clocks differ.
 */
export function randomTrace(seed: number, count = 30): SpanHead[] {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const heads: SpanHead[] = [];
  for (let at = 0; at < count; at += 1) {
    const parent = at === 0 || random() < 0.04 ? undefined : heads[below(heads.length)];
    const [fromUs, lengthUs] = parent
      ? [parent.startUs, parent.endUs - parent.startUs]
      : [1_000 * below(3), 10_000];
    const startUs = fromUs + below(lengthUs * 1.1 + 1) - below(20);
    const service = `service-${below(4)}`;
    heads.push(
      headOf(`span-${at}`, [startUs, startUs + (random() < 0.1 ? 0 : below(lengthUs + 10))], {
        parentSpanId: random() < 0.03 ? `missing-${below(3)}` : parent?.spanId,
        service,
        host: random() < 0.2 ? undefined : `${service}-host`,
        kind: below(6),
        isError: random() < 0.1,
        errorCode: random() < 0.5 ? 'TIMEOUT' : undefined,
      }),
    );
  }
  if (random() < 0.2) addCircle(heads, below(count));
  return heads;
}

/** Hangs a span below the last one, whatever stands between the two. */
function addCircle(heads: SpanHead[], at: number): void {
  const head = heads[at];
  if (head) heads[at] = { ...head, parentSpanId: heads.at(-1)?.spanId };
}

/** The same spans in another order. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = seededRandom(seed);
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
