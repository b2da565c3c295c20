import { Drop, type Context, type Liquid } from 'liquidjs';
import { expressionFault } from './budget.ts';

/**
 * Takes away what reads files (`include`, `render`, `layout`, `block`), what writes to the variables
 * (`increment`, `decrement`), what would evaluate a text as an expression (`where_exp` and its kin),
 * and what would get around the bound on the output (`raw`, the filter).
 */
export function dropUnsafe(liquid: Liquid): void {
  const tags: Record<string, unknown> = liquid.tags;
  for (const name of ['include', 'render', 'layout', 'block', 'increment', 'decrement']) {
    delete tags[name];
  }
  const filters: Record<string, unknown> = liquid.filters;
  for (const name of Object.keys(filters)) {
    if (name === 'raw' || name.endsWith('_exp')) delete filters[name];
  }
}

/** Adds ours: `json`, `parse_json`, `keys`, `values`, `type`. */
export function registerFilters(liquid: Liquid): void {
  for (const [name, filter] of Object.entries(filters)) liquid.registerFilter(name, filter);
}

/** A value as it stands within a text: objects and lists as JSON, nothing as nothing. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(finite(value));
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  // Liquid's own values, such as `empty`, say what they are worth.
  const worth = value instanceof Drop ? value.valueOf() : value;
  return typeof worth === 'string' ? worth : (JSON.stringify(worth) ?? '');
}

/** Fault `invalid` (`expression_failed`) for what JSON has no number for, such as what a division by 0 brings. */
export function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw expressionFault(`the expression comes to ${value}, which is no number`);
}

interface FilterThis {
  readonly context: Context;
}

type Filter = (this: FilterThis, value: unknown, ...settings: readonly unknown[]) => unknown;

function toJson(this: FilterThis, value: unknown, indent?: unknown): string {
  const width = typeof indent === 'number' ? Math.min(Math.max(indent, 0), 8) : 0;
  const text = JSON.stringify(value ?? null, undefined, width) ?? 'null';
  this.context.memoryLimit.use(text.length);
  return text;
}

const filters: Readonly<Record<string, Filter>> = {
  json: toJson,
  jsonify: toJson,
  inspect: toJson,

  /** A JSON text as a value; also when a model wrote it between code fences. */
  parse_json(value) {
    if (typeof value !== 'string') return value;
    this.context.memoryLimit.use(value.length);
    try {
      return JSON.parse(withoutFences(value), refuseForbidden);
    } catch {
      throw expressionFault('parse_json: the text is not JSON');
    }
  },

  keys(value) {
    const keys = isObject(value) ? Object.keys(value) : [];
    this.context.memoryLimit.use(keys.length);
    return keys;
  },

  values(value) {
    const values = isObject(value) ? Object.values(value) : [];
    this.context.memoryLimit.use(values.length);
    return values;
  },

  /** `null`, `boolean`, `number`, `string`, `array` or `object`. */
  type(value) {
    if (value === undefined || value === null) return 'null';
    return Array.isArray(value) ? 'array' : typeof value;
  },
};

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function withoutFences(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed;
  const start = trimmed.indexOf('\n');
  return start < 0 ? trimmed : trimmed.slice(start + 1, -3);
}

function refuseForbidden(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
