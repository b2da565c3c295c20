import { LRUCache } from 'lru-cache';

const usesMin = 5;
const namesMax = 600;
const textsMax = 2_000;
const lengthMax = 16 * 1024;

/**
 * Names for the statements that one session runs over and over, so that it parses each once and may keep
 * its plan. The first 600 that were run five times get one; it holds as long as the session.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #uses = new LRUCache<string, number>({ max: textsMax });

  /** To be asked once for each time that the statement is run; undefined while it has no name. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= namesMax || text.length > lengthMax) return undefined;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < usesMin) {
      this.#uses.set(text, uses);
      return undefined;
    }
    this.#uses.delete(text);
    const name = `s${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}
