import { ExportWalk, type SpanPlace, type Walked } from '../otlp/export-walk.ts';
import type { SpanHead } from '../trace/span.ts';

/** What intake takes of an export. */
export interface ReadExport extends Walked {
  /** By span id, the bytes of the spans that nothing else in the export is above: one may be the root. */
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

/** Reads the heads of exports, and finds the spans that may be roots. */
export class ExportReader {
  readonly #walk = new ExportWalk();

  /** Reads a body, or of it only the spans of the traces that are wanted. */
  read(body: Uint8Array, wanted?: ReadonlySet<string>): ReadExport {
    const places: SpanPlace[] = [];
    const walked = this.#walk.walk(body, { now: Date.now(), places });
    const ids = new Set<string>();
    for (const { spanId } of walked.heads) ids.add(spanId);
    const heads: SpanHead[] = [];
    const entries = new Map<string, Uint8Array>();
    for (const [index, head] of walked.heads.entries()) {
      if (wanted && !wanted.has(head.traceId)) continue;
      heads.push(head);
      const place = places[index];
      if (!place || (head.parentSpanId !== undefined && ids.has(head.parentSpanId))) continue;
      // A copy, for the body is let go of long before the trace is.
      entries.set(head.spanId, body.slice(place.from, place.end));
    }
    return { ...walked, heads, entries };
  }
}
