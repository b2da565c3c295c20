const textLengthMax = 256;
const countMax = 1_000;

/**
 * What short bodies of a route say, by their texts: who asks over and over asks in the same words, and
 * to find them costs a tenth of reading them. Values are frozen, for many requests share them. Holds
 * 1,000 to 2,000 texts of up to 256 characters, those used most recently.
 */
export class KnownBodies {
  readonly #readNew: (text: string) => unknown;
  #recent = new Map<string, unknown>();
  #older = new Map<string, unknown>();

  /** `readNew` reads and checks a text, and throws the refusal. */
  constructor(readNew: (text: string) => unknown) {
    this.#readNew = readNew;
  }

  read(text: string): unknown {
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const value = this.#older.get(text) ?? freezeDeep(this.#readNew(text));
    if (text.length <= textLengthMax) this.#keep(text, value);
    return value;
  }

  #keep(text: string, value: unknown): void {
    if (this.#recent.size >= countMax) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(text, value);
  }
}

/** To be used on values whose depth is bounded. */
function freezeDeep(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) freezeDeep(member);
  return Object.freeze(value);
}
