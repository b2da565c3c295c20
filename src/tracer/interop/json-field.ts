import { Fault } from '../../kit/errors.ts';

/** A value somewhere in a foreign document; what it is not is refused with the place where it stands. */
export class JsonField {
  readonly value: unknown;
  /** As it would be written in JavaScript: `data[0].spans[3].startTime`; empty for the whole. */
  readonly place: string;

  constructor(value: unknown, place = '') {
    this.value = value;
    this.place = place;
  }

  /** Neither left out nor null. */
  get isPresent(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** A property of an object; a property of anything else is refused. */
  at(name: string): JsonField {
    const place = this.place === '' ? name : `${this.place}.${name}`;
    return new JsonField(this.#object()[name], place);
  }

  /** The properties of an object; of none when it is absent. */
  entries(): readonly (readonly [name: string, field: JsonField])[] {
    if (!this.isPresent) return [];
    return Object.keys(this.#object()).map((name) => [name, this.at(name)]);
  }

  /** The entries of a list; of none when it is absent. */
  items(): readonly JsonField[] {
    if (!this.isPresent) return [];
    if (!Array.isArray(this.value)) throw this.refusal('must be a list');
    return this.value.map((item, index) => new JsonField(item, `${this.place}[${index}]`));
  }

  text(): string {
    if (typeof this.value !== 'string') throw this.refusal('must be a text');
    return this.value;
  }

  optionalText(): string | undefined {
    return this.isPresent ? this.text() : undefined;
  }

  optionalFlag(): boolean | undefined {
    if (!this.isPresent) return undefined;
    if (typeof this.value !== 'boolean') throw this.refusal('must be true or false');
    return this.value;
  }

  /** A whole number from 0 to 2^53; digits in a text are taken too. */
  count(): number {
    const { value } = this;
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number;
    throw this.refusal('must be a whole number from 0 to 2^53');
  }

  optionalCount(): number | undefined {
    return this.isPresent ? this.count() : undefined;
  }

  /** The refusal of this value: `place` and what it must be. */
  refusal(demand: string): Fault {
    const { place } = this;
    const name = place === '' ? 'the document' : place;
    return new Fault('invalid', `${name} ${demand}`, {
      reason: 'malformed_json',
      detail: { place },
    });
  }

  #object(): Readonly<Record<string, unknown>> {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.refusal('must be an object');
    }
    return value as Readonly<Record<string, unknown>>;
  }
}
