import { Fault } from '../../../kit/errors.ts';
import { listOf, textOf } from '../fields.ts';
import { literalText, placeholderText, within, type DataPlace } from '../paths.ts';

/** Finds what a variable's first word stands for; undefined when nothing does. */
export type FindPlace = (word: string) => DataPlace | undefined;

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

/** A text as it is kept: rich text loses its marks, variables become placeholders. */
export function readRichText(value: unknown, find: FindPlace): string {
  const plain = textOf(value)
    .replaceAll(/<\/p>\s*<p>|<br\s*\/?>/g, '\n')
    .replaceAll(/<\/?(p|span|strong|em|ul|ol|li|code|pre|h[1-6]|a|u|s)(\s[^>]*)?>/g, '')
    .replaceAll(/&(lt|gt|quot|#39|nbsp|amp);/g, (entity) => entities[entity] ?? entity);
  return plain
    .split(/\{\{([^{}]*)\}\}/)
    .map((piece, at) => (at % 2 === 0 ? literalText(piece) : placeholderText(placeOf(piece, find))))
    .join('')
    .trim();
}

/** The place that a variable names; Fault `invalid` (`not_translatable`). */
export function placeOf(variable: string, find: FindPlace): DataPlace {
  const [root = '', ...steps] = variable.trim().split('.');
  const isPath = /^[\w$ -]+(\.[\w-]+)*$/.test(variable.trim());
  const place = isPath ? find(root) : undefined;
  if (!place || steps.some((step) => step === '__proto__')) {
    const message = `the variable ${variable.trim().slice(0, 120)} has no counterpart`;
    throw new Fault('invalid', message, { reason: 'not_translatable' });
  }
  return within(place, steps);
}

/** The schema of an answer whose fields are listed. */
export function schemaOf(fields: unknown): Readonly<Record<string, unknown>> | undefined {
  const list = listOf(fields).map((one) => one as Readonly<Record<string, unknown>>);
  if (list.length === 0) return undefined;
  const properties = list.map(({ key, type, description, enumValues }) => {
    const kind = textOf(type);
    const values = textOf(enumValues)
      .split(',')
      .map((one) => one.trim());
    const shape =
      kind === 'enum'
        ? { type: 'string', enum: values }
        : { type: kind === 'stringArray' || kind === 'jsonArray' ? 'array' : kind || 'string' };
    return [textOf(key), { ...shape, description: literalText(textOf(description)) }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: list.map(({ key }) => textOf(key)),
  };
}
