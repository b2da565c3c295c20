/** An answer that was written before, in any format: it is sent as it is. */
export class WrittenBytes {
  /** A text goes out as UTF-8, a short one in one piece with the head of the answer. */
  readonly bytes: Buffer | string;
  readonly mediaType: string;

  constructor(bytes: Buffer | string, mediaType: string) {
    this.bytes = bytes;
    this.mediaType = mediaType;
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
