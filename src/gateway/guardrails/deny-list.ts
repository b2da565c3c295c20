import { Fault } from '../../kit/errors.ts';
import type { ChatRequest } from '../conversation/request.ts';
import type { Guardrail } from './guardrail.ts';
import { PatternSearch } from './pattern-search.ts';
import { guardrailRefusal } from './refusal.ts';
import { visitNames } from './request-names.ts';
import { visitTexts } from './request-texts.ts';

/** A pattern that requests must not contain, and what it is called to the caller. */
export interface DenyRule {
  readonly name: string;
  /** A regular expression without references back and looks ahead or behind. */
  readonly pattern: string;
}

const name = 'deny-list';

/** Refuses requests in which a rule's pattern stands, and says which. Answers are not looked at. */
export class DenyList implements Guardrail {
  readonly name = name;
  readonly #rules: readonly DenyRule[];
  readonly #search: PatternSearch;

  /** Throws `invalid` (`bad_setting`) that names the rule whose pattern cannot be used. */
  constructor(rules: readonly DenyRule[]) {
    for (const { name: rule, pattern } of rules) requireUsable(rule, [pattern]);
    this.#rules = rules;
    const patterns = rules.map(({ pattern }) => pattern);
    this.#search = requireUsable('all together', patterns);
  }

  inspectRequest(request: ChatRequest): ChatRequest {
    const require = (text: string) => this.#require(text);
    visitTexts(request, require);
    visitNames(request, require);
    return request;
  }

  #require(text: string): void {
    const found = this.#search.find(plainOf(text));
    const rule = found === undefined ? undefined : this.#rules[found];
    if (!rule) return;
    throw guardrailRefusal(`the request may not be sent: the rule "${rule.name}" forbids it`, {
      guardrail: name,
      rule: rule.name,
      param: 'messages',
    });
  }
}

/** Rules for words and phrases: as whole words, with any space between them. */
export function wordRules(words: string): DenyRule[] {
  const phrases = words.split(',').map((word) => word.trim());
  return phrases.filter((phrase) => phrase !== '').map(wordRule);
}

/**
 * The rules of a file: one a line, a word or phrase, or `name: /pattern/`; lines that begin with `#`
 * and empty ones are left out.
 */
export function fileRules(text: string): DenyRule[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(lineRule);
}

function lineRule(line: string): DenyRule {
  const [, ruleName, pattern] = /^([\w .-]{1,100}): *\/(.+)\/$/.exec(line) ?? [];
  return ruleName && pattern ? { name: ruleName.trim(), pattern } : wordRule(line);
}

function wordRule(phrase: string): DenyRule {
  const plain = plainOf(phrase);
  const words = plain.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const before = /^[\p{L}\p{N}_]/u.test(plain) ? '\\b' : '';
  const after = /[\p{L}\p{N}_]$/u.test(plain) ? '\\b' : '';
  return { name: phrase, pattern: `${before}${words.join('\\s+')}${after}` };
}

/** Characters that only look different become the same, and invisible ones go. */
function plainOf(text: string): string {
  const hasMore = /\P{ASCII}/u.test(text);
  return hasMore ? text.normalize('NFKC').replace(/\p{Cf}/gu, '') : text;
}

function requireUsable(rule: string, patterns: readonly string[]): PatternSearch {
  try {
    return new PatternSearch(patterns);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new Fault('invalid', `the deny-list's rule "${rule}" cannot be used: ${why}`, {
      reason: 'bad_setting',
      cause,
    });
  }
}
