import { isAbsolute } from 'node:path';
import { Fault } from '../../kit/errors.ts';

/** What one position of the arguments may be. */
export type ArgumentPattern =
  | { readonly kind: 'exact'; readonly text: string }
  /** `*`: one argument, whatever it is. */
  | { readonly kind: 'any' }
  /** `**`: all that follow, none as well. */
  | { readonly kind: 'rest' };

/** A command of the operator's list. */
export interface AllowEntry {
  readonly command: string;
  /** Empty: any arguments. */
  readonly patterns: readonly ArgumentPattern[];
}

interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
}

/**
 * Reads `command [pattern …]` entries, each on a line or ended by `;`. Quotes, single or double, keep
 * blanks, `;` and asterisks as they stand; there is no escape character. Throws Fault `invalid`
 * (`bad_setting`), as a list that is not understood must not be guessed.
 */
export function readEntries(text: string): AllowEntry[] {
  return splitTokens(text)
    .filter((tokens) => tokens.length > 0)
    .map(readEntry);
}

/** Whether every position fits. */
export function matchArguments(
  patterns: readonly ArgumentPattern[],
  args: readonly string[],
): boolean {
  if (patterns.length === 0) return true;
  const hasRest = patterns.at(-1)?.kind === 'rest';
  const fixed = hasRest ? patterns.slice(0, -1) : patterns;
  if (hasRest ? args.length < fixed.length : args.length !== fixed.length) return false;
  return fixed.every((pattern, at) => pattern.kind !== 'exact' || pattern.text === args[at]);
}

const tokenPattern = /'[^']*'|"[^"]*"|[^\s;'"]+|[\n;]|\s/gy;

function splitTokens(text: string): Token[][] {
  const entries: Token[][] = [[]];
  let parts: string[] = [];
  let isQuoted = false;
  const endToken = () => {
    if (parts.length > 0) entries.at(-1)?.push({ text: parts.join(''), isQuoted });
    parts = [];
    isQuoted = false;
  };
  for (const part of matchAll(text)) {
    if (/^\s$|^;$/.test(part)) endToken();
    if (part === '\n' || part === ';') entries.push([]);
    if (/^['"]/.test(part)) isQuoted = true;
    if (!/^\s$|^;$/.test(part)) parts.push(/^['"]/.test(part) ? part.slice(1, -1) : part);
  }
  endToken();
  return entries;
}

function matchAll(text: string): string[] {
  const parts = text.match(tokenPattern) ?? [];
  if (parts.join('').length !== text.length) throw unclear('a quote is never closed');
  return parts;
}

function readEntry([command, ...patterns]: readonly Token[]): AllowEntry {
  const name = command?.text ?? '';
  if (!isAbsolute(name) && /[/\\]|^\.*$/.test(name)) {
    throw unclear(`"${name}" is neither a name nor an absolute path`);
  }
  if (!command?.isQuoted && name.includes('*')) throw unclear(`"${name}" holds an asterisk`);
  const read = patterns.map(readPattern);
  if (read.slice(0, -1).some(({ kind }) => kind === 'rest')) {
    throw unclear('** stands for the rest, so that nothing can follow it');
  }
  return { command: name, patterns: read };
}

function readPattern({ text, isQuoted }: Token): ArgumentPattern {
  if (isQuoted || !text.includes('*')) return { kind: 'exact', text };
  if (text === '*') return { kind: 'any' };
  if (text === '**') return { kind: 'rest' };
  throw unclear(`the asterisk in ${text} is neither a whole argument nor in quotes`);
}

function unclear(flaw: string): Fault {
  return new Fault('invalid', `REGISTRY_STDIO_ALLOW: ${flaw}`, { reason: 'bad_setting' });
}
