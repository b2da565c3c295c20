import { analyse } from '../trace/analyse.ts';
import { spanKinds, type Span, type SpanHead } from '../trace/span.ts';
import { study } from '../trace/study.ts';
import { seededRandom } from '../trace/testing.ts';
import type { StoredTrace } from '../reading/view.ts';
import { pathTimes } from './path-times.ts';

/** A span of a test, its times in milliseconds after the trace's start. */
export interface Drawn extends Partial<
  Omit<Span, 'spanId' | 'parentSpanId' | 'startUs' | 'endUs' | 'kind'>
> {
  readonly id: string;
  readonly in?: string;
  readonly from: number;
  readonly to: number;
  readonly kind?: keyof typeof spanKinds;
}

const epochUs = 1_800_000_000_000_000;

/** The id that a drawn span is stored under: its own in hexadecimal, filled up. */
export function idOf(id: string): string {
  return Buffer.from(id).toString('hex').padStart(16, '0').slice(-16);
}

/** A whole span with what a test does not say filled in. */
export function draw({ id, in: parent, from, to, kind = 'internal', ...rest }: Drawn): Span {
  return {
    traceId: 'a'.repeat(32),
    service: 'shop',
    name: id,
    isError: false,
    statusMessage: undefined,
    agent: 'shop',
    host: undefined,
    errorCode: undefined,
    callee: undefined,
    genAi: undefined,
    attributes: {},
    events: [],
    links: [],
    resource: {},
    scope: { name: '', version: '' },
    traceState: '',
    ...rest,
    spanId: idOf(id),
    parentSpanId: parent === undefined ? undefined : idOf(parent),
    kind: spanKinds[kind],
    startUs: epochUs + Math.round(from * 1_000),
    endUs: epochUs + Math.round(to * 1_000),
  };
}

/** A stored trace of them. */
export function storedTrace(spans: readonly Span[]): StoredTrace {
  const traceId = spans[0]?.traceId ?? '';
  return { traceId, spans, isComplete: true, revision: 1, bodies: [] };
}

/** All that the rules of this folder look at. */
export function examined(spans: readonly SpanHead[]) {
  const { tree, path } = study(spans);
  return { analysis: analyse(spans), tree, path, onPath: pathTimes(path.sections) };
}

/**
 * A trace of one to some forty spans in any arrangement: in sequence, at once, reaching out of their
 * parents, of no length, from queues, and now and then with several roots.
 */
export function randomTrace(seed: number): Span[] {
  const random = seededRandom(seed);
  const pick = <T>(values: readonly [T, ...T[]]): T =>
    values[Math.floor(random() * values.length)] ?? values[0];
  // Coarse times let siblings touch and tie.
  const snap = (ms: number) => (seed % 2 === 0 ? ms : Math.round(ms / 20) * 20);
  const spans: Span[] = [];
  const count = 1 + Math.floor(random() * 40);
  for (let at = 0; at < count; at += 1) {
    const parent = random() < 0.95 ? spans[Math.floor(random() * spans.length)] : undefined;
    const lengthMs = parent ? (parent.endUs - parent.startUs) / 1_000 : 1_000;
    const startMs = parent ? (parent.startUs - epochUs) / 1_000 : random() * 500;
    const from = snap(startMs + lengthMs * random() * 1.05);
    spans.push(
      draw({
        id: `s${at}`,
        ...(parent ? { in: parent.name } : {}),
        from,
        to: from + (at > 0 && random() < 0.05 ? 0 : snap(lengthMs * random())),
        kind: pick(['internal', 'client', 'server', 'producer', 'consumer']),
        service: pick(['shop', 'stock', 'pay']),
        isError: random() < 0.1,
      }),
    );
  }
  return spans;
}
