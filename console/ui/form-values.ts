import { wordsIn } from './entry-text.ts';

/** A field's text; empty when there is no such field. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** The field under its own name, or nothing where it was left blank, to be spread into a body. */
export function filled<K extends string>(form: FormData, name: K): { [P in K]?: string } {
  const text = textOf(form, name).trim();
  return (text === '' ? {} : { [name]: text }) as { [P in K]?: string };
}

/** The words of a field, set off by blanks or commas. */
export function wordsOf(form: FormData, name: string): string[] {
  return wordsIn(textOf(form, name));
}

/** The values of all checked boxes of a name. */
export function choicesOf(form: FormData, name: string): string[] {
  return form.getAll(name).filter((value) => typeof value === 'string');
}
