import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.ts') && !/(\.test|\/testing|-testing)\.ts$/.test(file))
  .map((file) => ({ file, text: withoutComments(readFileSync(join(root, 'src', file), 'utf8')) }));

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/.*|\/\*\*?[^]*?\*\/)$/gm, '');
}

/** What else is called a reason or a code: of a model's answer, of messages within the suite. */
const others = new Set(
  `length stop finish finish_reason load unload tools string null inner share slow refused ejected
  leaving agent_died seal unseal TimeoutError`.split(/\s+/),
);
/** Codes of the system and of libraries below. */
const foreign = /^(E[A-Z]+|ERR_\w+|UND_ERR_\w+|SIG[A-Z]+)$/;

/** What libraries answer with. */
const foreignAnswers = [
  // GraphQL Yoga.
  'graphql_parse_failed',
  'graphql_validation_failed',
  'operation_resolution_failure',
  'bad_request',
];

const ends = 'timeout unreachable failed unauthorized forbidden not_found conflict rate_limited';
const operatorCodes = ['cms', 'idp'].flatMap((name) =>
  `${ends} unavailable rejected`.split(' ').map((end) => `${name}_${end}`),
);
/** What is put together, and what comes of it. */
const composed: Readonly<Record<string, readonly string[]>> = {
  '${this.#name}_${end}': operatorCodes,
  '${name}_${end}': operatorCodes,
  'http_${status}': ['http_404'],
  '${node.reason.toUpperCase()}_TIMEOUT': ['approval_timeout', 'child_timeout'],
  '${name}_refused': ['registry_refused', 'mesh_refused', 'chat_refused'],
  '${what}_exceeded': ['memory_exceeded', 'processes_exceeded'],
  'agent_${failure.reason}': ['agent_exited', 'agent_out_of_memory'],
  'TASK_${status.toUpperCase()}': ['task_failed', 'task_cancelled'],
};
const unquoted = new Set([...foreignAnswers, ...Object.values(composed).flat()]);

/** The text of an expression that begins there, as far as the next comma, semicolon or closing bracket. */
function expressionAt(text: string, start: number): string {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (`'"\``.includes(sign)) at = text.indexOf(sign, at + 1);
    else if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    if (at < start || depth < 0 || (depth === 0 && ',;'.includes(sign)))
      return text.slice(start, at);
  }
  return text.slice(start);
}

function argumentsAt(text: string, start: number): readonly string[] {
  const given: string[] = [];
  for (let at = start; ; at += 1) {
    const one = expressionAt(text, at);
    given.push(one);
    at += one.length;
    if (text.charAt(at) !== ',') return given;
  }
}

const literalsOf = (text: string) =>
  [...text.matchAll(/'([A-Za-z]\w*)'/g)].map(([, literal = '']) => literal);

const areaOf = (file: string) => file.split('/')[0] ?? '';

/** Functions and methods that are given a reason or a code, and as which of their arguments. */
function takers(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { file, text } of sources) {
    for (const [, name = '', given = ''] of text.matchAll(
      /(?:function |^ {2})(#?\w+)\(([^()]*)\)/gm,
    )) {
      const at = given.split(',').findIndex((one) => /^\s*(reason|code): [^n]/.test(one));
      if (at >= 0) found.set(`${areaOf(file)} ${name}`, at);
    }
  }
  return found;
}

function codesInSource(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const taking = takers();
  for (const { file, text } of sources) {
    const note = (expression: string) => {
      for (const code of literalsOf(expression)) {
        if (!others.has(code) && !foreign.test(code)) found.set(code.toLowerCase(), file);
      }
    };
    for (const said of text.matchAll(/(?<!['"`])\b(?:reason|code)(?:\??:|\s=)\s+/g)) {
      note(expressionAt(text, said.index + said[0].length));
    }
    for (const called of text.matchAll(/(?<!function )(#?\b\w+)\(/g)) {
      const at = taking.get(`${areaOf(file)} ${called[1]}`);
      if (at !== undefined) note(argumentsAt(text, called.index + called[0].length)[at] ?? '');
    }
  }
  return found;
}

const nameOf = (text: string) =>
  [...text.matchAll(/`([A-Za-z]\w*)`/g)].map(([, name = '']) => name);

/** The names in the first columns of the page's tables, and in the sentences on `details.reason`. */
const documented = new Set(
  page
    .split('\n')
    .flatMap((line) => nameOf(/^\|([^|]*)\|/.exec(line)?.[1] ?? ''))
    .map((name) => name.toLowerCase()),
);
const mentioned = new Set(nameOf(page).map((name) => name.toLowerCase()));

test('every code that a service answers stands in docs/errors.md', () => {
  const missing = [...codesInSource()].filter(([code]) => !mentioned.has(code));
  expect(missing.map(([code, file]) => `${code} (src/${file})`)).toEqual([]);
});

test('every code that is put together is known with what comes of it', () => {
  const found = sources.flatMap(({ text }) =>
    [
      ...text.matchAll(
        /\b(?:reason|code)(?::|\s=)\s[^\n;]{0,80}?`([\w.#(){}$]*\$\{[\w.#(){}$]*)`/g,
      ),
    ].map(([, made = '']) => made),
  );
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(composed).toSorted());
});

test('every code in docs/errors.md is one that a service answers', () => {
  // Some are looked up by their names, which need no quotes there.
  const words = sources.flatMap(({ text }) => [
    ...literalsOf(text),
    ...[...text.matchAll(/^\s+(\w+):/gm)].map(([, name = '']) => name),
  ]);
  const said = new Set(words.map((word) => word.toLowerCase()));
  const unsaid = [...documented].filter((code) => !said.has(code) && !unquoted.has(code));
  expect(unsaid).toEqual([]);
  for (const code of unquoted) expect(documented).toContain(code);
});
