/** A JSON object of a document that nobody has checked. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as a list; an empty one where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text; an empty one where it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What lies along a path of names. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    found = Object.hasOwn(fieldsOf(found), name) ? fieldsOf(found)[name] : undefined;
  }
  return found;
}

/** An object without the names that have no value. */
export function present(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The value as a finite number, also where it is written as a text. */
export function numberOf(value: unknown): number | undefined {
  if (value === '' || (typeof value !== 'string' && typeof value !== 'number')) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A table that is looked up by names which a document gives. */
export function withoutPrototype<Table extends object>(table: Table): Table {
  return Object.assign(Object.create(null) as Table, table);
}
