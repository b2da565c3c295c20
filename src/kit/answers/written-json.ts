/** An answer that was written before, in any format: it is sent as it is. */
export class WrittenBytes {
  /** A text goes out as UTF-8, a short one in one piece with the head of the answer. */
  readonly bytes: Buffer | string;
  readonly mediaType: string;
  /** Of a text: `latin1` where each character is a byte, which spares measuring and encoding it. */
  readonly encoding: 'utf8' | 'latin1';

  constructor(bytes: Buffer | string, mediaType: string, encoding: 'utf8' | 'latin1' = 'utf8') {
    this.bytes = bytes;
    this.mediaType = mediaType;
    this.encoding = encoding;
  }
}

/** The media type of every JSON answer. */
export const jsonType = 'application/json; charset=utf-8';

/**
 * An answer whose JSON was written before, for those that are given over and over: whoever wrote it
 * answers for what the contract says of it. A Buffer holds the JSON already.
 */
export class WrittenJson extends WrittenBytes {
  constructor(value: unknown) {
    super(Buffer.isBuffer(value) ? value : toBytes(JSON.stringify(value)), jsonType);
  }
}

const textLengthMax = 4096;

/** A short text is cheaper to encode each time than to send in a piece of its own. */
function toBytes(json: string): Buffer | string {
  return json.length <= textLengthMax ? json : Buffer.from(json);
}

/** The same of JSON that is a text already, and is sent but once. */
export class WrittenJsonText extends WrittenBytes {
  constructor(json: string) {
    super(json, jsonType);
  }
}

/**
 * The same of a text that is put together of what `asciiJson` wrote, and holds nothing but ASCII: the
 * cheapest that can be sent.
 */
export class WrittenAsciiJson extends WrittenBytes {
  constructor(json: string) {
    super(json, jsonType, 'latin1');
  }
}

const beyondAscii = /[\u0080-\uffff]/g;

/** A value as JSON in ASCII alone: all other characters are escaped (RFC 8259, section 7). */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(beyondAscii, escapeOf);
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
