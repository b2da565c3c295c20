import { Fault } from '../../../kit/errors.ts';

/** Longest JSON text of a schema, in UTF-16 code units. */
export const schemaLengthMax = 64 * 1024;

/** Schemas, and values of `enum`, that one schema may consist of. */
export const partsMax = 2000;

/** What all counts of a schema (`maxLength`, `minItems`, …) may come to: each is written out. */
export const repetitionsMax = 20_000;

/** Longest text of a schema's rules, in UTF-16 code units. */
const rulesLengthMax = 1024 * 1024;

/** A schema whose grammar would keep the model process from everybody else's work. */
export class TooLarge extends Error {
  toFault(): Fault {
    return new Fault('invalid', this.message, {
      reason: 'unsupported_schema',
      detail: { param: 'format' },
    });
  }
}

/** Throws `TooLarge` for a schema of more than `schemaLengthMax`. */
export function checkTextSize(schema: unknown): void {
  const length = JSON.stringify(schema)?.length ?? 0;
  if (length <= schemaLengthMax) return;
  throw new TooLarge(`a JSON schema may have at most ${schemaLengthMax} characters of JSON`);
}

/** Counts what one schema comes to; each method throws `TooLarge` once its limit is exceeded. */
export class SizeBudget {
  #parts = 0;
  #repetitions = 0;
  #rulesLength = 0;

  countParts(count: number): void {
    this.#parts += count;
    if (this.#parts <= partsMax) return;
    throw new TooLarge(`a JSON schema may have at most ${partsMax} parts, each value of enum one`);
  }

  countRepetitions(count: number): void {
    this.#repetitions += count;
    if (this.#repetitions <= repetitionsMax) return;
    const keywords = 'minLength, maxLength, minItems, maxItems and pattern';
    throw new TooLarge(`the ${keywords} of a JSON schema may come to ${repetitionsMax} in all`);
  }

  /** `ways`: how many parses of the rule may be open at a time. */
  countRule(rule: string, ways: number): void {
    this.#rulesLength += rule.length;
    if (ways > partsMax) {
      throw new TooLarge(`a JSON schema may leave at most ${partsMax} choices open at one place`);
    }
    if (this.#rulesLength <= rulesLengthMax) return;
    throw new TooLarge(`the grammar of a JSON schema may have ${rulesLengthMax} characters`);
  }
}
