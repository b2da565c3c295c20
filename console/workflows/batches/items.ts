import { linesIn, readJson, requireObject } from '../../ui/entry-text.ts';

type Inputs = Record<string, unknown>;

/**
 * The inputs of a batch: a JSON array of objects, or a JSON object a line. Throws a sentence that names the
 * item that is neither.
 */
export function readItems(text: string): Inputs[] {
  const values = /^\s*\[/.test(text)
    ? (readJson(text, 'The list of items') as unknown[])
    : linesIn(text).map((line, at) => readJson(line, `Item ${at + 1}`));
  if (values.length === 0) throw new TypeError('A batch needs at least one item');
  return values.map((value, at) => requireObject(value, `Item ${at + 1}`));
}
