/** One column of a table: its heading and what it shows of a row. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | undefined;
}

type Shown = string | number | boolean | undefined;

/** Prints a value for machines. */
export function printJson(value: unknown): void {
  process.stdout.write(`${jsonOf(value, 2)}\n`);
}

/** Prints one of many values for machines, on a line. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${jsonOf(value)}\n`);
}

/** JSON in which characters that could steer a terminal are escaped. */
export function jsonOf(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  return text.replaceAll(/[\u007F-\u009F\u2028\u2029\p{Cf}]/gu, escape);
}

/** Prints rows below their headings, each column as wide as its widest entry. */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => columns.map(({ of }) => plain(of(row))));
  const lines = [titles, ...cells];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  for (const line of lines) {
    printLine(line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '));
  }
}

/** Prints one thing as lines of name and value; what it does not have is left out. */
export function printFacts(facts: Readonly<Record<string, Shown>>): void {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...known.map(([name]) => name.length));
  for (const [name, value] of known) printLine(`${name.padEnd(width)}  ${plain(value)}`);
}

/** Prints a line of the answer; others may have chosen its words, so they cannot steer a terminal. */
export function printLine(line: string): void {
  const lines = line.split('\n').map((one) => plain(one).trimEnd());
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Prints a remark for the operator that is no part of the answer. */
export function printRemark(line: string): void {
  process.stderr.write(`${plain(line)}\n`);
}

/** A number of things, `1 span`, `2 spans`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A number of bytes with three digits and a decimal unit, `808 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${amount.toFixed(power > 0 && amount < 10 ? 1 : 0)} ${units[power]}`;
}

/** Text without control and direction characters: a user name must not rewrite the screen. */
export function plain(value: Shown): string {
  return String(value ?? '').replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');
}

function escape(character: string): string {
  const units = character.split('');
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}
