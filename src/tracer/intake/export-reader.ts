import { ExportWalk, type SpanPlace, type Walked } from '../otlp/export-walk.ts';
import { Interner } from '../otlp/interner.ts';
import { PlainValues } from '../otlp/plain-value.ts';
import { Wire } from '../otlp/wire.ts';
import type { AttributeMap, AttributeValue, SpanHead } from '../trace/span.ts';
import { packTags } from '../trace/tags.ts';

/** What intake takes of an export. */
export interface ReadExport extends Walked {
  /** By span id: packed attributes, in PostgreSQL's hexadecimal form, of spans that may be roots. */
  readonly tags: ReadonlyMap<string, string>;
}

/** OTLP's number of `Span.attributes` with wire type 2. */
const attributesTag = 74;

/** Reads heads, and the attributes of those spans only that nothing else in the export is above. */
export class ExportReader {
  readonly #walk = new ExportWalk();
  readonly #wire = new Wire();
  readonly #values = new PlainValues(this.#wire, new Interner());

  /** Reads a body, or of it only the spans of the traces that are wanted. */
  read(body: Uint8Array, wanted?: ReadonlySet<string>): ReadExport {
    const places: SpanPlace[] = [];
    const walked = this.#walk.walk(body, { now: Date.now(), places });
    const ids = new Set(walked.heads.map(({ spanId }) => spanId));
    const heads: SpanHead[] = [];
    const tags = new Map<string, string>();
    for (const [index, head] of walked.heads.entries()) {
      if (wanted && !wanted.has(head.traceId)) continue;
      heads.push(head);
      const place = places[index];
      if (!place || (head.parentSpanId !== undefined && ids.has(head.parentSpanId))) continue;
      const packed = packTags(this.#attributes(body, place));
      if (packed) tags.set(head.spanId, `\\x${packed.toString('hex')}`);
    }
    return { ...walked, heads, tags };
  }

  #attributes(body: Uint8Array, { from, end }: SpanPlace): AttributeMap {
    const wire = this.#wire;
    const map: Record<string, AttributeValue> = {};
    wire.open(body);
    wire.at = from;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === attributesTag) this.#values.addTo(map, wire.length(end));
      else wire.stepOver(tag, end);
    }
    return map;
  }
}
