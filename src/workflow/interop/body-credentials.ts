import { isLiteral, isSecretName } from './credentials.ts';
import { isFields, textOf, type Fields } from './fields.ts';
import { bareJsonText } from './json-credentials.ts';
import { changeWithin, formValue, nestedTextsMax } from './text-parts.ts';

/** The body of a request without its secrets, and the names of those. */
export interface BaredBody {
  readonly body: unknown;
  readonly names: readonly string[];
}

/**
 * Leaves the secrets out of a request's body: what stands under a name that says so, in JSON, in a text
 * that is JSON once it is filled in, and in a form, within each other too. What placeholders fill in
 * stays.
 */
export function bareBody(body: unknown): BaredBody {
  const names = new Set<string>();
  return { body: bareValue(body, names), names: [...names] };
}

/** The name of a secret that stands beside it, as in `{name: 'password', value}`. */
export function secretPairName(fields: Fields): string | undefined {
  return pairNames.map((name) => textOf(fields[name])).find(isSecretName);
}

/** A text that is JSON or a form without its secrets, as `bareBody` says; adds their names. */
export function bareText(text: string, names = new Set<string>(), depth = 0): string {
  if (depth > nestedTextsMax) return '…';
  const bareWithin = (held: string) => bareText(held, names, depth + 1);
  const form = forms.find(({ kind }) => kind.test(text));
  const bared = form ? bareForm(text, { pair: form.pair, names, bareWithin }) : text;
  return bareJsonText(bared, { names, pairNames, bareWithin });
}

/** Where lists of headers, parameters and fields have the name of a `value`. */
const pairNames: readonly string[] = ['name', 'key'];

function bareValue(value: unknown, names: Set<string>): unknown {
  if (typeof value === 'string') return bareText(value, names);
  if (Array.isArray(value)) return value.map((one: unknown) => bareValue(one, names));
  return isFields(value) ? bareFields(value, names) : value;
}

function bareFields(fields: Fields, names: Set<string>): Fields {
  const pairName = secretPairName(fields);
  const pairs = Object.entries(fields).map(([name, value]) => {
    const secret = pairName !== undefined && name === 'value' ? pairName : name;
    const isHeld = typeof value === 'object' && value !== null && !isListOfTexts(value);
    if (!isSecretName(secret) || isHeld) return [name, bareValue(value, names)] as const;
    if (!isSecret(value)) return [name, value] as const;
    names.add(secret);
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

// A whole form may have quotes; a piece of one in another text ends with the text that it stands in.
// No two ways lead through the same characters, so that each takes time in proportion to the text.
const forms: readonly { readonly kind: RegExp; readonly pair: RegExp }[] = [
  {
    kind: /^=?[^=&\s{}"]{1,100}=/,
    pair: /(?<head>(?<=^=?|&)(?<name>[^=&\s{}"]{1,100})=)(?<value>(?:\{\{[^{}]{0,1000}\}\}|[^&\s{]|\{(?!\{))*)/g,
  },
  {
    kind: /^(?!=?\s{0,20}(?:["[]|\{(?!\{)))/,
    pair: /(?<head>(?<=&)(?<name>[^=&\s{}"]{1,100})=)(?<value>(?:\{\{[^{}]{0,1000}\}\}|[^&\s{"]|\{(?!\{))*)/g,
  },
];

interface FormBaring {
  readonly pair: RegExp;
  readonly names: Set<string>;
  readonly bareWithin: (text: string) => string;
}

function bareForm(text: string, { pair, names, bareWithin }: FormBaring): string {
  return text.replaceAll(pair, (...found) => {
    // The groups of a pair, which are always there.
    const { head = '', name: written = '', value = '' } = found.at(-1) as Record<string, string>;
    const name = formValue.read(written);
    if (!isSecretName(name)) {
      return value.includes('%') ? head + changeWithin(value, formValue, bareWithin) : head + value;
    }
    if (!isLiteral(value)) return head + value;
    names.add(name);
    return head;
  });
}
