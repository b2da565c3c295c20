/**
 * A handler's answer that is sent as JSON texts, one a line (`application/x-ndjson`). Nothing is sent
 * before the first is there, so a source that fails at once still gives an ordinary refusal; one that
 * fails later ends with a line that holds the refusal.
 */
export class JsonLines {
  readonly values: AsyncIterable<unknown>;

  constructor(values: AsyncIterable<unknown>) {
    this.values = values;
  }
}

/** The wire form of one value; JSON escapes every line break within. */
export function formatLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
