import type { TestCase } from './test-case.ts';

/** The cases of a JUnit XML report; undefined where there is none. */
export function readJunit(text: string): readonly TestCase[] | undefined {
  const start = text.search(/<testsuites?[\s>/]/);
  if (start === -1) return undefined;
  const reading: Reading = { cases: [], open: undefined };
  for (const token of tokensOf(text, start)) take(reading, token);
  return reading.cases;
}

interface Reading {
  readonly cases: TestCase[];
  open: OpenCase | undefined;
}

function take(reading: Reading, token: Token): void {
  const { cases, open } = reading;
  if (token.kind === 'text') {
    open?.texts.push(token.text);
  } else if (token.name !== 'testcase') {
    if (token.kind === 'open' && open) reading.open = outcomeOf(open, token);
  } else if (token.kind === 'open') {
    const begun: OpenCase = { attributes: token.attributes, status: 'passed', texts: [] };
    if (token.isEmpty) cases.push(caseOf(begun));
    else reading.open = begun;
  } else if (open) {
    cases.push(caseOf(open));
    reading.open = undefined;
  }
}

type Attributes = Readonly<Record<string, string>>;

interface OpenCase {
  readonly attributes: Attributes;
  readonly status: TestCase['status'];
  readonly message?: string | undefined;
  readonly texts: string[];
}

type Token =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'close'; readonly name: string }
  | {
      readonly kind: 'open';
      readonly name: string;
      readonly attributes: Attributes;
      readonly isEmpty: boolean;
    };

function outcomeOf(
  open: OpenCase,
  { name, attributes }: Extract<Token, { kind: 'open' }>,
): OpenCase {
  if (name === 'skipped') return { ...open, status: 'skipped', texts: [] };
  if (name !== 'failure' && name !== 'error') return open;
  return { ...open, status: 'failed', message: attributes['message'], texts: [] };
}

function caseOf({ attributes, status, message, texts }: OpenCase): TestCase {
  const { name = '', classname = '' } = attributes;
  const full = classname === '' || classname === name ? name : `${classname} > ${name}`;
  if (status !== 'failed') return { name: full, status };
  const text = texts.join('').trim();
  return { name: full, status, message: message || text || 'failed' };
}

/** Walks once through the text, so that no input takes longer than its length. */
function* tokensOf(text: string, start: number): Generator<Token> {
  let at = start;
  while (at < text.length) {
    if (text.startsWith('<![CDATA[', at)) {
      const end = endOf(text, ']]>', at);
      yield { kind: 'text', text: text.slice(at + 9, end - 3) };
      at = end;
    } else if (text.startsWith('<!--', at)) {
      at = endOf(text, '-->', at);
    } else if (text[at] === '<') {
      const end = tagEnd(text, at);
      yield readTag(text.slice(at + 1, end - 1));
      at = end;
    } else {
      const end = text.indexOf('<', at);
      const stop = end === -1 ? text.length : end;
      yield { kind: 'text', text: decode(text.slice(at, stop)) };
      at = stop;
    }
  }
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
}

/** Behind the `>` of a tag; those in its attributes do not count. */
function tagEnd(text: string, from: number): number {
  let quote = '';
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (quote !== '') {
      if (letter === quote) quote = '';
    } else if (letter === '"' || letter === "'") {
      quote = letter;
    } else if (letter === '>') {
      return at + 1;
    }
  }
  return text.length;
}

function readTag(tag: string): Token {
  const [, slash, name = ''] = /^(\/?)\s*([\w:.-]*)/.exec(tag) ?? [];
  if (slash) return { kind: 'close', name };
  const attributes: Record<string, string> = {};
  for (const [, key = '', double, single] of tag.matchAll(
    /([\w:.-]+)="([^"]*)"|([\w:.-]+)='([^']*)'/g,
  )) {
    if (double !== undefined) attributes[key] = decode(double);
    else if (single !== undefined) attributes[single] = '';
  }
  return { kind: 'open', name, attributes, isEmpty: tag.endsWith('/') };
}

const named: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

function decode(text: string): string {
  return text.replaceAll(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{2,4});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return named[name] ?? whole;
    const code = Number(name.replace(/^#(x?)/i, (_, x: string) => (x === '' ? '' : '0x')));
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
