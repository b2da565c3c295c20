/**
 * An answer whose JSON was written before, for those that are given over and over: it is sent as it
 * is, so whoever wrote it answers for what the contract says of it. A
 * Buffer holds the JSON already.
 */
export class WrittenJson {
  readonly bytes: Buffer;

  constructor(value: unknown) {
    this.bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
  }
}
