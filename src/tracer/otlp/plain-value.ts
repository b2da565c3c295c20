import type { AttributeMap, AttributeValue } from '../trace/span.ts';
import type { Interner } from './interner.ts';
import type { Wire } from './wire.ts';

/** Decodes attributes that the scanner has checked into plain values. */
export class PlainValues {
  readonly #wire: Wire;
  readonly #interner: Interner;

  constructor(wire: Wire, interner: Interner) {
    this.#wire = wire;
    this.#interner = interner;
  }

  /**
   * Adds the KeyValue that ends at `end` to `map`; of a key that stands twice the last counts, and
   * `__proto__` never passes.
   */
  addTo(map: Record<string, AttributeValue>, end: number): void {
    const wire = this.#wire;
    let key = '';
    let value: AttributeValue = null;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) {
        const keyEnd = wire.length(end);
        key = this.#interner.text(wire.bytes, wire.at, keyEnd);
        wire.at = keyEnd;
      } else if (tag === 18) value = this.#value(wire.length(end));
      else wire.stepOver(tag, end);
    }
    if (key !== '__proto__') map[key] = value;
  }

  #value(end: number): AttributeValue {
    const wire = this.#wire;
    let value: AttributeValue = null;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) value = wire.text(wire.length(end));
      else if (tag === 16) value = wire.varint() !== 0;
      else if (tag === 24) value = this.#whole();
      else if (tag === 33) value = finite(wire.double());
      else if (tag === 42) value = this.#list(wire.length(end));
      else if (tag === 50) value = this.#map(wire.length(end));
      else if (tag === 58) value = this.#base64(wire.length(end));
      else wire.stepOver(tag, end);
    }
    return value;
  }

  #whole(): number | string {
    const { at } = this.#wire;
    const value = this.#wire.signed();
    if (Number.isSafeInteger(value)) return value;
    this.#wire.at = at;
    return this.#wire.int64().toString();
  }

  #base64(end: number): string {
    const { bytes, at } = this.#wire;
    this.#wire.at = end;
    return bytes.toString('base64', at, end);
  }

  #list(end: number): AttributeValue[] {
    const wire = this.#wire;
    const list: AttributeValue[] = [];
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) list.push(this.#value(wire.length(end)));
      else wire.stepOver(tag, end);
    }
    return list;
  }

  #map(end: number): AttributeMap {
    const wire = this.#wire;
    const map: Record<string, AttributeValue> = {};
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) this.addTo(map, wire.length(end));
      else wire.stepOver(tag, end);
    }
    return map;
  }
}

/** JSON has no NaN and no infinities: they are texts. */
function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
