import { Fault } from '../../kit/errors.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const hexadecimal = /^(?:[0-9a-f]{2})*$/i;
const wholeNumber = /^-?[0-9]{1,20}$/;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const namedDoubles: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

/**
 * Reads values of protobuf's JSON mapping as OTLP changes it (ids in hexadecimal), under either
 * name of a field; null is absent. Knows where it is, so that a Fault `malformed_json` names the
 * field.
 */
export class JsonSource {
  readonly #path: (string | number)[] = [];
  readonly #snakeNames = new Map<string, string>();

  fail(expected: string): never {
    const field = this.#path.reduce<string>(
      (path, step) =>
        typeof step === 'number' ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`,
      '',
    );
    const where = field === '' ? 'The body' : field;
    throw new Fault('invalid', `${where} is not ${expected}.`, {
      reason: 'malformed_json',
      detail: { field },
    });
  }

  object(value: unknown): JsonObject {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.fail('an object');
    return value as JsonObject;
  }

  /** What `read` makes of a field, undefined where the field is absent. */
  field<Value>(
    owner: JsonObject,
    name: string,
    read: (value: unknown) => Value,
  ): Value | undefined {
    const value = owner[name] ?? owner[this.#snakeOf(name)];
    if (value === undefined || value === null) return undefined;
    this.#path.push(name);
    const result = read(value);
    this.#path.pop();
    return result;
  }

  #snakeOf(name: string): string {
    const known = this.#snakeNames.get(name);
    if (known !== undefined) return known;
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    this.#snakeNames.set(name, snake);
    return snake;
  }

  list<Item>(
    owner: JsonObject,
    name: string,
    read: (value: JsonObject) => Item,
  ): Item[] | undefined {
    return this.field(owner, name, (value) => {
      if (!Array.isArray(value)) return this.fail('a list');
      return value.map((item: unknown, index) => {
        this.#path.push(index);
        const result = read(this.object(item));
        this.#path.pop();
        return result;
      });
    });
  }

  text = (value: unknown): string => (typeof value === 'string' ? value : this.fail('a text'));

  boolean = (value: unknown): boolean =>
    typeof value === 'boolean' ? value : this.fail('a boolean');

  id = (value: unknown): string =>
    hexadecimal.test(this.text(value)) ? String(value).toLowerCase() : this.fail('hexadecimal');

  int64 = (value: unknown): bigint => {
    const whole = this.#whole(value);
    return BigInt.asIntN(64, whole) === whole ? whole : this.fail('a 64-bit number');
  };

  unsigned64 = (value: unknown): bigint => {
    const whole = this.#whole(value);
    return BigInt.asUintN(64, whole) === whole ? whole : this.fail('an unsigned 64-bit number');
  };

  unsigned32 = (value: unknown): number => {
    const whole = this.#whole(value);
    return BigInt.asUintN(32, whole) === whole
      ? Number(whole)
      : this.fail('an unsigned 32-bit number');
  };

  #whole(value: unknown): bigint {
    if (typeof value === 'string' && wholeNumber.test(value)) return BigInt(value);
    if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
    return this.fail('a whole number');
  }

  double = (value: unknown): number => {
    if (typeof value === 'number') return value;
    const text = this.text(value).trim();
    const number = text === '' ? Number.NaN : Number(text);
    if (Number.isNaN(number) && !namedDoubles.has(text)) return this.fail('a number');
    return number;
  };

  bytes = (value: unknown): Uint8Array =>
    base64.test(this.text(value)) ? Buffer.from(String(value), 'base64') : this.fail('base64');

  /** A value of an enum, by its number or its name. */
  choice(value: unknown, names: Readonly<Record<string, number>>): number {
    if (typeof value !== 'string' || wholeNumber.test(value)) return this.unsigned32(value);
    return (Object.hasOwn(names, value) ? names[value] : undefined) ?? this.fail('a known name');
  }
}
