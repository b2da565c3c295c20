import { isShallow, scalarOf } from './any-value.ts';
import type { Facts, ValueReader } from './facts.ts';
import type { Interner } from './interner.ts';
import type { KeyTable, WantedKey } from './key-table.ts';
import type { Wire } from './wire.ts';

/** How many bytes of a text a head keeps; what is longer is cut between characters. */
const factLimit = 512;

/**
 * Looks at attributes as they go by: checks every one, notes where the wanted stand that are not
 * empty.
 */
export class AttributeReader implements ValueReader {
  readonly #wire: Wire;
  readonly #interner: Interner;
  readonly #textOf = (from: number, end: number) => this.cutText(from, end, factLimit);

  constructor(wire: Wire, interner: Interner) {
    this.#wire = wire;
    this.#interner = interner;
  }

  /** Steps over a KeyValue; false when its value is nested too deep. */
  read(end: number, keys: KeyTable, facts: Facts): boolean {
    const wire = this.#wire;
    const { bytes } = wire;
    const keyFrom = wire.at + 2;
    const keyEnd = keyFrom + (bytes[keyFrom - 1] ?? 0);
    const from = keyEnd + 2;
    if (bytes[wire.at] !== 10 || keyEnd - keyFrom > 127 || !this.#isValue(keyEnd, end))
      return this.#readUnusual(end, keys, facts);
    const wanted = keys.find(bytes, keyFrom, keyEnd);
    const isText = bytes[from] === 10 && from + 2 + (bytes[from + 1] ?? 0) === end;
    if (wanted && !(isText && end - from === 2)) facts.put(wanted, from, end);
    if (isText) {
      wire.at = end;
      return true;
    }
    wire.at = from;
    return isShallow(wire, end);
  }

  /**
   * Whether what stands between two places is the field `value`, not empty and of a short length.
   */
  #isValue(at: number, end: number): boolean {
    const { bytes } = this.#wire;
    const length = end - at - 2;
    return length > 0 && length < 128 && bytes[at] === 18 && bytes[at + 1] === length;
  }

  #readUnusual(end: number, keys: KeyTable, facts: Facts): boolean {
    const wire = this.#wire;
    let wanted: WantedKey | undefined;
    let from = -1;
    let valueEnd = -1;
    let isGood = true;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) {
        const keyEnd = wire.length(end);
        wanted = keys.find(wire.bytes, wire.at, keyEnd);
        wire.at = keyEnd;
      } else if (tag === 18) {
        valueEnd = wire.length(end);
        from = wire.at;
        isGood = isShallow(wire, valueEnd) && isGood;
      } else wire.skip(tag, end, 2);
    }
    wire.close(end);
    if (wanted && from >= 0) facts.put(wanted, from, valueEnd);
    return isGood;
  }

  /** Leaves the wire where it is. */
  scalar(from: number, end: number): string | number | boolean | undefined {
    const wire = this.#wire;
    const { at } = wire;
    const value = scalarOf(wire, { from, end }, this.#textOf);
    wire.at = at;
    return value;
  }

  text(from: number, end: number): string | undefined {
    const { bytes } = this.#wire;
    const length = bytes[from + 1] ?? 0;
    if (bytes[from] === 10 && length < 128 && from + 2 + length === end && length > 0)
      return this.#interner.text(bytes, from + 2, end);
    const value = this.scalar(from, end);
    return value === undefined || value === '' ? undefined : String(value);
  }

  /** The text between two places, cut after at most `limit` bytes. */
  cutText(from: number, end: number, limit: number): string {
    const { bytes } = this.#wire;
    let last = end;
    if (end - from > limit) {
      last = from + limit;
      while (last > from && ((bytes[last] ?? 0) & 0xc0) === 0x80) last -= 1;
    }
    return this.#interner.text(bytes, from, last);
  }
}
