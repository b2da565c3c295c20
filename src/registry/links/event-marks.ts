const lineFeed = 0x0a;
const lineLengthMax = 1_024;

/** What server-sent events say of themselves, found while they pass (WHATWG HTML, section 9.2). */
export class EventMarks {
  #id: string | undefined;
  #retryMs: number | undefined;
  /** Of the event that has not ended. */
  #nextId: string | undefined;
  /** The start of the line that has not ended, a character for each byte. */
  #line = '';

  /** Of the last event that ended. */
  get lastEventId(): string | undefined {
    return this.#id;
  }

  /** How long to wait before coming back, when that was said. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(lineFeed, start);
      const stop = end < 0 ? bytes.length : end;
      const room = lineLengthMax - this.#line.length;
      this.#line += bytes.toString('latin1', start, Math.min(stop, start + room));
      if (end < 0) return;
      this.#endLine();
      start = end + 1;
    }
  }

  /** What did not come to its end will not. */
  breakOff(): void {
    this.#line = '';
    this.#nextId = undefined;
  }

  #endLine(): void {
    const line = Buffer.from(this.#line, 'latin1').toString();
    this.#line = '';
    const [, name, value = ''] = /^(id|retry): ?([^\0\r]*)\r?$/.exec(line) ?? [];
    if (name === 'id') this.#nextId = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value);
    else if (/^\r?$/.test(line)) {
      this.#id = this.#nextId ?? this.#id;
      this.#nextId = undefined;
    }
  }
}
