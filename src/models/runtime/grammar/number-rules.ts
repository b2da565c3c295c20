import type { JsonSchema } from '../../inference/request.ts';
import { bounds, integerBetween, readRange } from './integers.ts';
import { fractionsOf, multiplesBetween, readStep, type Step } from './multiples.ts';
import { firstOddBound, numberWithin } from './numbers.ts';

/** What makes rules, and says what becomes of a keyword that none can hold. */
export interface NumberRules {
  add(body: string): string;
  widen(keyword: string, path: string, wider: string): string;
}

const wholeStep: Step = { whole: 1, decimals: 0 };

/** The rule of a schema's whole numbers. */
export function integerRule(rules: NumberRules, schema: JsonSchema, path: string): string {
  const { low, high, named } = readRange(schema);
  const step = schema['multipleOf'] === undefined ? wholeStep : readStep(schema['multipleOf']);
  if (step?.decimals !== 0) return rules.widen('multipleOf', path, 'integer');
  const isAny = step.whole === 1;
  const body = isAny ? integerBetween(low, high) : multiplesBetween(low, high, step.whole);
  if (body !== undefined) return asRule(rules, body);
  if (!isAny && low <= high) return rules.widen('multipleOf', path, 'integer');
  return rules.widen(Object.keys(named)[0] ?? 'minimum', path, 'integer');
}

/** The rule of a schema's numbers. */
export function numberRule(rules: NumberRules, schema: JsonSchema, path: string): string {
  const { multipleOf } = schema;
  const step = readStep(multipleOf);
  if (step?.decimals === 0) return integerRule(rules, schema, path);
  const odd = firstOddBound(schema);
  if (odd !== undefined) return rules.widen(odd, path, 'number');
  const fractions = step && fractionsOf(step);
  if (multipleOf !== undefined && !fractions) {
    return rules.widen('multipleOf', path, 'number');
  }
  const refused = bounds.find((keyword) => schema[keyword] !== undefined) ?? 'minimum';
  const body = numberWithin(schema, fractions);
  return body === undefined ? rules.widen(refused, path, 'number') : asRule(rules, body);
}

/** A rule of its own: what a list repeats must be short for llama.cpp. */
function asRule(rules: NumberRules, body: string): string {
  return /^[a-z]+$/.test(body) ? body : rules.add(body);
}
