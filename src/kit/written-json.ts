/** An answer whose bytes were written before, in any format: they are sent as they are. */
export class WrittenBytes {
  readonly bytes: Buffer;
  readonly mediaType: string;

  constructor(bytes: Buffer, mediaType: string) {
    this.bytes = bytes;
    this.mediaType = mediaType;
  }
}

/**
 * An answer whose JSON was written before, for those that are given over and over: whoever wrote it
 * answers for what the contract says of it. A Buffer holds the JSON already.
 */
export class WrittenJson extends WrittenBytes {
  constructor(value: unknown) {
    super(
      Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
      'application/json; charset=utf-8',
    );
  }
}
