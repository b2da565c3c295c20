/**
 * An answer whose JSON was written before, for those that are given over and over: it is sent as it
 * is, so whoever wrote it answers for what the contract says of it.
 */
export class WrittenJson {
  readonly text: string;

  constructor(value: unknown) {
    this.text = JSON.stringify(value);
  }
}
