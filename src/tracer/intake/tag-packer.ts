import { Interner } from '../otlp/interner.ts';
import { PlainValues } from '../otlp/plain-value.ts';
import { Wire } from '../otlp/wire.ts';
import type { AttributeMap, AttributeValue } from '../trace/span.ts';
import { packTags } from '../trace/tags.ts';

/** OTLP's number of `Span.attributes` with wire type 2. */
const attributesTag = 74;

/** Makes the tags of a trace's row of its root. */
export class TagPacker {
  readonly #wire = new Wire();
  readonly #values = new PlainValues(this.#wire, new Interner());

  /** The packed attributes of a span in protobuf, in PostgreSQL's hexadecimal form. */
  pack(span: Uint8Array): string | undefined {
    const packed = packTags(this.#attributes(span));
    return packed && `\\x${packed.toString('hex')}`;
  }

  #attributes(span: Uint8Array): AttributeMap {
    const wire = this.#wire;
    const map: Record<string, AttributeValue> = {};
    wire.open(span);
    while (wire.at < span.length) {
      const tag = wire.tag();
      if (tag === attributesTag) this.#values.addTo(map, wire.length(span.length));
      else wire.stepOver(tag, span.length);
    }
    return map;
  }
}
