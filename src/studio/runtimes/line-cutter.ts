/** Longer lines are cut, so that a program without line breaks fills no memory. */
export const lineBytesMax = 16_384;

const lineFeed = 0x0a;

/** Cuts bytes as they come into lines of text. */
export class LineCutter {
  #rest: Buffer = Buffer.alloc(0);
  #isCut = false;

  /** Bytes of the line that has not ended yet. */
  get pendingBytes(): number {
    return this.#rest.length;
  }

  /** The lines that end in these bytes. */
  push(bytes: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, from)) {
      lines.push(this.#endLine(bytes.subarray(from, at)));
      from = at + 1;
    }
    this.#keep(bytes.subarray(from));
    return lines;
  }

  /** What stands after the last line break. */
  end(): string[] {
    return this.#rest.length === 0 ? [] : [this.#endLine(Buffer.alloc(0))];
  }

  #keep(bytes: Buffer): void {
    const room = lineBytesMax - this.#rest.length;
    this.#isCut ||= bytes.length > room;
    // Copied: the bytes may lie in a buffer that is read into again.
    this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, room)]);
  }

  #endLine(bytes: Buffer): string {
    this.#keep(bytes);
    const text = this.#rest.toString('utf8').replace(/\r$/, '');
    const line = this.#isCut ? `${text}…` : text;
    this.#rest = Buffer.alloc(0);
    this.#isCut = false;
    return line;
  }
}
