import type { SpanHead } from '../trace/span.ts';
import { ExportWalk, type SpanPlace } from './export-walk.ts';

/** A span of a trace, where it stands. */
export interface LocatedSpan {
  readonly head: SpanHead;
  readonly body: Uint8Array;
  readonly place: SpanPlace;
}

export interface ReadOptions {
  /** As `ScanOptions.now`: the present where absent. */
  readonly now?: number | undefined;
}

/**
 * Finds the spans of one trace by the rules of the scanner. A span that was sent several times
 * stands once: of those that end last the one that came last, in the place of the first.
 */
export function locateSpans(
  bodies: readonly Uint8Array[],
  traceId: string,
  { now = Date.now() }: ReadOptions,
): LocatedSpan[] {
  const walk = new ExportWalk();
  const wanted = Buffer.from(traceId, 'hex');
  const located = new Map<string, LocatedSpan>();
  for (const body of bodies) {
    const places: SpanPlace[] = [];
    const { heads } = walk.walk(body, { now, traceId: wanted, places });
    for (const [index, head] of heads.entries()) {
      const place = places[index];
      const known = located.get(head.spanId);
      if (place && (!known || known.head.endUs <= head.endUs))
        located.set(head.spanId, { head, body, place });
    }
  }
  return [...located.values()];
}
