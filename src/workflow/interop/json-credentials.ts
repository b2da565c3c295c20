import { isLiteral, isSecretName } from './credentials.ts';
import { changeWithin, jsonString, jsonToken } from './text-parts.ts';

export interface JsonBaring {
  /** Gets the name of each secret that is left out. */
  readonly names: Set<string>;
  /** Names whose value is the name of what stands beside them as `value`. */
  readonly pairNames: readonly string[];
  /** What becomes of a text that stands in a string. */
  readonly bareWithin: (text: string) => string;
}

/**
 * A text without the secrets of the JSON in it, all else as it was written. Need not be JSON: what
 * placeholders fill in may be missing, and text may stand around it.
 */
export function bareJsonText(text: string, baring: JsonBaring): string {
  const reading = new JsonReading(baring);
  let end = 0;
  for (const found of text.matchAll(jsonToken)) {
    reading.pass(text.slice(end, found.index));
    end = found.index + found[0].length;
    const { held, mark, number } = found.groups ?? {};
    if (held !== undefined && isNameAt(text, end)) reading.name(held, found[0]);
    else if (held !== undefined) reading.string(held, found[0]);
    else if (number !== undefined) reading.number(number);
    else if (mark !== undefined) reading.mark(mark);
    else reading.filled(found[0]);
  }
  return reading.end(text.slice(end));
}

function isNameAt(text: string, end: number): boolean {
  const colon = /\s{0,20}:/y;
  colon.lastIndex = end;
  return colon.test(text);
}

/** An object or a list that is being read. */
interface Frame {
  /** Of the value that comes next. */
  name?: string | undefined;
  /** Of the secret whose texts a list holds. */
  readonly listed?: string | undefined;
  /** What the `value` beside it is called. */
  pairName?: string;
  /** Where that stands in what is written. */
  valueAt?: number;
}

class JsonReading {
  readonly #baring: JsonBaring;
  readonly #written: string[] = [];
  readonly #around: Frame[] = [];
  #frame: Frame = {};

  constructor(baring: JsonBaring) {
    this.#baring = baring;
  }

  pass(text: string): void {
    if (text !== '') this.#written.push(text);
  }

  name(held: string, written: string): void {
    this.#frame.name = jsonString.read(held);
    this.pass(written);
  }

  string(held: string, written: string): void {
    const { name = this.#frame.listed, listed } = this.#frame;
    const value = jsonString.read(held);
    if (name !== undefined && isSecretName(name) && isLiteral(value)) {
      this.#leaveOut(name);
    } else {
      if (this.#baring.pairNames.includes(name ?? '') && isSecretName(value)) {
        this.#frame.pairName = value;
      }
      if (name === 'value' && listed === undefined && isLiteral(value)) {
        this.#frame.valueAt = this.#written.length;
      }
      const bared = changeWithin(held, jsonString, this.#baring.bareWithin);
      this.#written.push(bared === held ? written : `"${bared}"`);
    }
    this.#frame.name = undefined;
  }

  number(written: string): void {
    const { name } = this.#frame;
    if (name !== undefined && isSecretName(name)) this.#leaveOut(name);
    else {
      if (name === 'value') this.#frame.valueAt = this.#written.length;
      this.pass(written);
    }
    this.#frame.name = undefined;
  }

  mark(mark: string): void {
    this.pass(mark);
    const { name } = this.#frame;
    this.#frame.name = undefined;
    if (mark === '{' || mark === '[') {
      this.#around.push(this.#frame);
      const isSecretList = mark === '[' && name !== undefined && isSecretName(name);
      this.#frame = { listed: isSecretList ? name : undefined };
    } else if (mark !== ',') {
      this.#close();
      this.#frame = this.#around.pop() ?? {};
    }
  }

  filled(written: string): void {
    this.#frame.name = undefined;
    this.pass(written);
  }

  end(rest: string): string {
    this.#close();
    return this.#written.join('') + rest;
  }

  #close(): void {
    const { pairName, valueAt } = this.#frame;
    if (pairName === undefined || valueAt === undefined) return;
    this.#written[valueAt] = '""';
    this.#baring.names.add(pairName);
  }

  #leaveOut(name: string): void {
    this.#written.push('""');
    this.#baring.names.add(name);
  }
}
