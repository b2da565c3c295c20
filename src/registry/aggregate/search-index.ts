/** One text that can be found, under its key. */
export interface SearchDocument {
  readonly key: string;
  readonly name: string;
  readonly text: string;
}

export interface SearchHit {
  readonly key: string;
  readonly score: number;
}

interface Indexed {
  /** How often each term comes; words of the name count more. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** The usual constants of BM25 (Robertson and Zaragoza 2009, section 3.2). */
const saturation = 1.2;
const lengthWeight = 0.75;

const nameWeight = 3;

/** Ranks texts by their words (BM25), in memory; adding and removing cost the words of one text. */
export class SearchIndex {
  readonly #documents = new Map<string, Indexed>();
  readonly #keysByTerm = new Map<string, Set<string>>();
  #lengths = 0;

  get size(): number {
    return this.#documents.size;
  }

  /** Replaces what has the same key. */
  add({ key, name, text }: SearchDocument): void {
    this.remove(key);
    const counts = new Map<string, number>();
    for (const term of termsOf(name)) counts.set(term, (counts.get(term) ?? 0) + nameWeight);
    for (const term of termsOf(text)) counts.set(term, (counts.get(term) ?? 0) + 1);
    let length = 0;
    for (const [term, count] of counts) {
      length += count;
      const keys = this.#keysByTerm.get(term);
      if (keys) keys.add(key);
      else this.#keysByTerm.set(term, new Set([key]));
    }
    this.#documents.set(key, { counts, length });
    this.#lengths += length;
  }

  remove(key: string): void {
    const document = this.#documents.get(key);
    if (!document) return;
    this.#documents.delete(key);
    this.#lengths -= document.length;
    for (const term of document.counts.keys()) {
      const keys = this.#keysByTerm.get(term);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysByTerm.delete(term);
    }
  }

  /** The best first; equal ones in the order of their keys. Only what has one of the words. */
  search(query: string, limit: number): SearchHit[] {
    const scores = new Map<string, number>();
    for (const term of new Set(termsOf(query))) this.#score(term, scores);
    return [...scores]
      .map(([key, score]) => ({ key, score }))
      .toSorted((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
      .slice(0, limit);
  }

  #score(term: string, scores: Map<string, number>): void {
    const keys = this.#keysByTerm.get(term);
    if (!keys) return;
    const total = this.#documents.size;
    const rarity = Math.log(1 + (total - keys.size + 0.5) / (keys.size + 0.5));
    const averageLength = this.#lengths / total;
    for (const key of keys) {
      const document = this.#documents.get(key);
      const count = document?.counts.get(term) ?? 0;
      const relative = (document?.length ?? 0) / averageLength;
      const damped = count + saturation * (1 - lengthWeight + lengthWeight * relative);
      const gain = (rarity * count * (saturation + 1)) / damped;
      scores.set(key, (scores.get(key) ?? 0) + gain);
    }
  }
}

/** Lower case words; `readFile` and `read_file` are two words each, plurals are their singular. */
function termsOf(text: string): string[] {
  const words = text
    .slice(0, textCharsMax)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).map((word) =>
    /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word,
  );
}

/** A description may be of any length; what comes later finds nobody. */
const textCharsMax = 4000;
