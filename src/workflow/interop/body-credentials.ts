import { isLiteral, isSecretName } from './credentials.ts';
import { isFields, type Fields } from './fields.ts';

/** The body of a request without its secrets, and the names of those. */
export interface BaredBody {
  readonly body: unknown;
  readonly names: readonly string[];
}

/**
 * Leaves the secrets out of a request's body: what stands under a name that says so, in JSON, in a text
 * that is JSON once it is filled in, and in a form. What placeholders fill in stays.
 */
export function bareBody(body: unknown): BaredBody {
  const names = new Set<string>();
  return { body: bareValue(body, names), names: [...names] };
}

function bareValue(value: unknown, names: Set<string>): unknown {
  if (typeof value === 'string') return bareText(value, names);
  if (Array.isArray(value)) return value.map((one: unknown) => bareValue(one, names));
  return isFields(value) ? bareFields(value, names) : value;
}

function bareFields(fields: Fields, names: Set<string>): Fields {
  const pairs = Object.entries(fields).map(([name, value]) => {
    const isHeld = typeof value === 'object' && value !== null && !isListOfTexts(value);
    if (!isSecretName(name) || isHeld) return [name, bareValue(value, names)] as const;
    if (!isSecret(value)) return [name, value] as const;
    names.add(name);
    return [name, ''] as const;
  });
  return Object.fromEntries(pairs);
}

function isListOfTexts(value: object): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isSecret(value: unknown): boolean {
  if (typeof value === 'string') return isLiteral(value);
  return typeof value === 'number' || (Array.isArray(value) && value.some(isSecret));
}

// No two ways lead through the same characters, so that each takes time in proportion to the text.
const pairs: readonly RegExp[] = [
  /(?<head>"(?<name>[^"\\\n]{1,100})"\s{0,20}:\s{0,20}")(?<value>(?:[^"\\]|\\.)*)(?=")/g,
  /(?<head>(?<=^=?|&)(?<name>[^=&\s{}"]{1,100})=)(?<value>(?:\{\{[^{}]{0,1000}\}\}|[^&\s{]|\{(?!\{))*)/g,
];

/** A text that is JSON or a form without its secrets, as `bareBody` says; adds their names. */
export function bareText(text: string, names = new Set<string>()): string {
  return pairs.reduce((bared, pair) => {
    return bared.replaceAll(pair, (whole, ...found) => {
      // The groups of a pair, which are always there.
      const { head = '', name = '', value = '' } = found.at(-1) as Record<string, string>;
      if (!isSecretName(name) || !isLiteral(value)) return whole;
      names.add(name);
      return head;
    });
  }, text);
}
