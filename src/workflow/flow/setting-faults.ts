import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { findFlaws } from '../../kit/schema-flaws.ts';
import type { FlowFault } from './flow.ts';
import { flowLimits, forbiddenKeys } from './limits.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A fault without its node. */
export type SettingFault = Pick<FlowFault, 'code' | 'message' | 'path'>;

/** Settings that are too large, too deep, or reach for a prototype; nothing else looks at those. */
export function findUnsoundData(data: Fields): SettingFault[] {
  const faults: SettingFault[] = [];
  const open: { readonly value: object; readonly path: string; readonly depth: number }[] = [
    { value: data, path: '', depth: 0 },
  ];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    const { value, path, depth } = entry;
    if (depth > flowLimits.depth) {
      const message = `settings are at most ${flowLimits.depth} levels deep`;
      return [...faults, { code: 'TOO_LARGE', message, path }];
    }
    for (const [name, child] of Object.entries(value)) {
      const isForbidden = forbiddenKeys.has(name);
      const message = `no setting may be called ${name}`;
      if (isForbidden) faults.push({ code: 'BAD_KEY', message, path: path || '' });
      const isDeeper = typeof child === 'object' && child !== null;
      if (isDeeper) open.push({ value: child, path: `${path}/${name}`, depth: depth + 1 });
    }
  }
  return faults;
}

/**
 * Settings that do not fit the schema, as far as can be said before anything is rendered: a text
 * with placeholders may become anything, and a setting that is missing may come with the inputs.
 */
export function findMisfits(
  data: Fields,
  schema: TSchema,
  rendered: readonly string[],
): SettingFault[] {
  if (Value.Check(schema, data)) return [];
  const errors = Value.Errors(schema, data);
  const isOpen = (path: string) =>
    rendered.some((place) => place === path || place.startsWith(`${path}/`));
  const excused = errors
    .filter(({ keyword, instancePath }) => choices.has(keyword) && isOpen(instancePath))
    .map(({ instancePath }) => instancePath);
  const left = errors.filter(({ keyword, instancePath }) => {
    if (instancePath === '' && (keyword === 'required' || choices.has(keyword))) return false;
    if (rendered.includes(instancePath)) return false;
    return !excused.some((path) => instancePath === path || instancePath.startsWith(`${path}/`));
  });
  return findFlaws(left, schema).map(({ place, message }) => ({
    code: 'BAD_SETTING',
    message: `${place === '' ? 'data' : place.slice(1).replaceAll('/', '.')} ${message}`,
    path: place,
  }));
}

const choices = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if']);
