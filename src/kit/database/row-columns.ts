/*
 * Rows as parameters of a statement: an array for each column, in the form in which PostgreSQL reads arrays.
 * It reads them in half the time that the same rows take as JSON.
 */

/** What rows hold; dates, bytes and numbers beyond 2^53 in PostgreSQL's text form. */
type ColumnValue = string | number | boolean | null | readonly (string | number)[];

/** The SQL type of each column, in the order of the parameters. */
export type ColumnTypes<Row> = Readonly<Record<keyof Row & string, string>>;

/** Rows to select from; the parameters are what `columnsOf` makes, from `firstParameter` on. */
export function selectColumns<Row>(types: ColumnTypes<Row>, firstParameter: number): string {
  const columns = Object.entries<string>(types);
  const selected = columns.map(([name, type]) =>
    isNested(type) ? `${name}::${type} as ${name}` : name,
  );
  const given = columns.map(
    ([, type], at) => `$${firstParameter + at}::${isNested(type) ? 'text' : type}[]`,
  );
  const names = columns.map(([name]) => name);
  return `select ${selected.join(', ')} from unnest(${given.join(', ')}) as r (${names.join(', ')})`;
}

/** A parameter for each column. */
export function columnsOf<Row extends Readonly<Record<keyof Row, ColumnValue>>>(
  types: ColumnTypes<Row>,
  rows: readonly Row[],
): string[] {
  const names = Object.keys(types) as (keyof Row)[];
  return names.map((name) => arrayText(rows.map((row) => row[name])));
}

function arrayText(values: readonly ColumnValue[]): string {
  return `{${values.map(elementText).join(',')}}`;
}

function elementText(value: ColumnValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'object' ? quoted(arrayText(value)) : String(value);
}

function quoted(text: string): string {
  const isPlain = !text.includes('"') && !text.includes('\\');
  return isPlain ? `"${text}"` : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** An array of arrays would have to have rows of one length, so each is a text. */
function isNested(type: string): boolean {
  return type.endsWith('[]');
}
