import { spanKinds } from '../trace/span.ts';
import { derivedSpanId } from './foreign-id.ts';
import type { ZipkinOptions, ZipkinSpan } from './zipkin-span.ts';

/**
 * Gives each server span that shares a client's id an id of its own, below the client's, and hangs
 * those that the server's service made below it. The id follows from the span, so that a span which
 * is sent again is the same.
 */
export function splitSharedSpans(
  spans: readonly ZipkinSpan[],
  { isWhole }: ZipkinOptions,
): readonly ZipkinSpan[] {
  const owners = new Set(spans.filter((span) => !isServerHalf(span)).map(keyOf));
  const isSplit = (span: ZipkinSpan) =>
    isServerHalf(span) && (owners.has(keyOf(span)) || (span.isShared && !isWhole));
  const placed = spans.map((span) => (isSplit(span) ? withOwnId(span) : span));
  const halves = new Map<string, ZipkinSpan[]>();
  for (const [index, span] of spans.entries()) {
    const half = placed[index];
    if (half && half !== span) noteHalf(halves, keyOf(span), half);
  }
  return spans.map((span, index) => {
    const own = placed[index] ?? span;
    return { ...own, parentSpanId: own === span ? parentOf(span, halves) : span.spanId };
  });
}

/** Beyond so many halves of one id nobody can say whose a child is: it hangs below an early one. */
const halvesMax = 64;

function noteHalf(halves: Map<string, ZipkinSpan[]>, key: string, half: ZipkinSpan): void {
  const known = halves.get(key);
  if (!known) halves.set(key, [half]);
  else if (known.length < halvesMax) known.push(half);
}

/** A server span that came with a shared id, or might have: old tracers do not say so. */
function isServerHalf(span: ZipkinSpan): boolean {
  return span.isShared || span.kind === spanKinds.server;
}

function keyOf({ traceId, spanId }: ZipkinSpan): string {
  return traceId + spanId;
}

function withOwnId(span: ZipkinSpan): ZipkinSpan {
  const { traceId, spanId, kind, local, startUs } = span;
  const own = [traceId, spanId, kind, local?.service, local?.address, startUs];
  return { ...span, spanId: derivedSpanId(own) };
}

/** The server half that was at work when the span began, of the span's own service. */
function parentOf(
  span: ZipkinSpan,
  halves: ReadonlyMap<string, readonly ZipkinSpan[]>,
): string | undefined {
  if (span.parentSpanId === undefined) return undefined;
  const servers = halves.get(span.traceId + span.parentSpanId) ?? [];
  const own = servers.filter(({ local }) => local?.service === span.local?.service);
  return (own.findLast((server) => isDuring(span, server)) ?? own[0])?.spanId ?? span.parentSpanId;
}

function isDuring(span: ZipkinSpan, server: ZipkinSpan): boolean {
  return span.startUs >= server.startUs && span.startUs <= server.startUs + server.durationUs;
}
