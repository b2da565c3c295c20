/** The end of what a process prints, within a bound of bytes. */
export class KeptText {
  readonly #bytesMax: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #isCut = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // Joined now and then only, so that single bytes do not cost a copy each.
    if (this.#size > 2 * this.#bytesMax || this.#chunks.length > 1_024) this.#compact();
  }

  /** Whether something is missing at the beginning. */
  get isCut(): boolean {
    return this.#isCut || this.#size > this.#bytesMax;
  }

  text(): string {
    this.#compact();
    const text = this.#chunks[0]?.toString('utf8') ?? '';
    // The cut may stand inside a letter.
    return this.#isCut ? text.replace(/^\ufffd+/, '') : text;
  }

  #compact(): void {
    this.#isCut ||= this.#size > this.#bytesMax;
    // A copy: a view would keep the whole of what was printed.
    const kept = Buffer.from(Buffer.concat(this.#chunks).subarray(-this.#bytesMax));
    this.#chunks = [kept];
    this.#size = kept.length;
  }
}
