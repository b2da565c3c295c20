/** An attribute that is looked for: into which slot its value goes, and which of several counts. */
export interface WantedKey {
  readonly slot: number;
  /** The lower wins. */
  readonly rank: number;
}

interface Entry extends WantedKey {
  readonly key: Buffer;
  readonly next: Entry | undefined;
}

/** Finds wanted attributes by the bytes of their keys, without making a string of each. */
export class KeyTable {
  readonly #entries: Entry[] = [];
  /** By `placeOf`: one more than the number of the first entry, 0 where there is none. */
  readonly #first = new Uint8Array(4_096);

  /** Of at most 255 keys. */
  constructor(keys: Iterable<readonly [key: string, wanted: WantedKey]>) {
    for (const [text, { slot, rank }] of keys) {
      const key = Buffer.from(text);
      const place = placeOf(key, 0, key.length);
      const next = this.#entries[(this.#first[place] ?? 0) - 1];
      this.#first[place] = this.#entries.push({ key, slot, rank, next });
    }
  }

  /** The key between two places that are not the same. */
  find(bytes: Buffer, from: number, end: number): WantedKey | undefined {
    const first = this.#first[placeOf(bytes, from, end)] ?? 0;
    if (first === 0) return undefined;
    let entry = this.#entries[first - 1];
    while (entry && (entry.key.length !== end - from || !isAt(entry.key, bytes, from)))
      entry = entry.next;
    return entry;
  }
}

/** Spread so that a key that is not wanted seldom has the place of one that is. */
function placeOf(bytes: Buffer, from: number, end: number): number {
  const length = end - from;
  const first = bytes[from] ?? 0;
  const middle = bytes[from + (length >> 1)] ?? 0;
  const last = bytes[end - 1] ?? 0;
  return (length * 167 + first * 13 + middle * 37 + last * 71) & 4_095;
}

/** Compares from the end: keys begin alike. */
function isAt(key: Buffer, bytes: Buffer, from: number): boolean {
  for (let at = key.length - 1; at >= 0; at -= 1) if (key[at] !== bytes[from + at]) return false;
  return true;
}
