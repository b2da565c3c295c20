import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import type { Scope } from '../flow.ts';
import { testScope } from '../testing.ts';
import { ConditionCompiler } from './conditions.ts';

const nodes = {
  review: { score: 0.8, count: 5, text: 'hello', list: [1, 2, 3], tags: ['a', 'b'], none: null },
  'a-b': { x: 2 },
  loop: { results: [1] },
  string: { x: 1 },
};
const known = new Set([...Object.keys(nodes), 'skipped']);
const compiler = new ConditionCompiler();
const compile = (text: string) => compiler.compile(text, (id) => known.has(id));

function holds(text: string, more: Partial<Scope> = {}): boolean {
  const condition = compile(text);
  expect(condition.references.problems).toEqual([]);
  return condition.holds(testScope(nodes, more));
}

function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a condition that is refused', () => {
  it.each([
    ['', 'Unexpected'],
    ['review.score >', ''],
    ['review.score + ', ''],
    ['1 + 1', 'not a result'],
    ['size(review.text)', 'type int'],
    ['"yes"', 'type string'],
    ['review.list.map(x, x)', 'type list'],
    ['"a" > 1', 'no such overload'],
    ['eval("1")', 'no matching overload'],
    ['review.text.constructor("x")', 'no matching overload'],
    ['cel.bind(a, review.list, a == a)', 'cel.bind'],
    ['review.text.matches("(a")', 'the pattern lacks a )'],
    ['review.text.matches("(?=a)b")', 'not offered'],
    ['review.text.matches("(a)\\\\1")', 'not offered'],
    [
      'review.list.all(a, review.list.all(b, review.list.all(c, review.list.all(d, true))))',
      'at most 3',
    ],
    [`${'1 + '.repeat(40)}1 == 41`, 'at most 32 additions'],
    [`${'('.repeat(100)}true${')'.repeat(100)}`, 'maxDepth'],
    [`${'true&&'.repeat(560)}true`, 'maxAstNodes'],
    [`"${'a'.repeat(5_000)}" == "a"`, 'at most 4096'],
    ['true; process.exit()', ''],
    ['() => true', ''],
    ['review.score ? : 1', ''],
  ])('%.60s', (text, message) => {
    const fault = faultOf(() => compile(text));
    expect(fault.reason).toBe('bad_expression');
    expect(fault.message).toContain(message);
    expect(fault.message).not.toContain('\n');
  });

  it.each([
    'process.env.x == "a"',
    'constructor.x',
    'globalThis == null',
    'nodes.gone.x == 1',
    'nodes[inputs.id].x == 1',
    'nodes == {}',
    'execution.secret == 1',
  ])('for a name that stands for nothing: %s', (text) => {
    expect(compile(text).references.problems).toHaveLength(1);
  });
});

it('loop is the node of that name in a condition outside of Loops', () => {
  expect(holds('loop.results == [1]')).toBe(true);
});

describe('a condition that tries to get out', () => {
  it.each([
    'review.constructor == null',
    'review.__proto__ == null',
    'review["constructor"]["constructor"] == null',
    'review.list.length == 3',
    'inputs.__proto__.x == 1',
    'review.none.x == 1',
  ])('fails: %s', (text) => {
    expect(faultOf(() => holds(text)).reason).toBe('expression_failed');
  });

  it.each([
    'review.text.matches("^(a+)+$")',
    'inputs.long.matches("(a*)*(a*)*(a*)*b")',
    'inputs.long.matches("(.*a){50}x")',
    'inputs.long.matches("(x+x+)+y") || inputs.long.matches("((){1000}){1000}b")',
  ])('comes to an end: %s', (text) => {
    const inputs = { long: 'a'.repeat(3_000) };
    const startedAt = performance.now();
    try {
      expect(holds(text, { inputs })).toBe(false);
    } catch (error) {
      expect(Fault.from(error).code).toBe('invalid');
    }
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  });

  it.each([
    'inputs.long.all(a, inputs.long.all(b, inputs.long.all(c, a + b + c > 0)))',
    'inputs.long.map(a, inputs.long).size() > 0',
    'inputs.long.filter( a , (inputs.long).exists(b, ((b)) > (1e9)) ).size() > 0',
    'inputs.long.map(a, a > 0, inputs.long.map(b, b > 0, [a, b])).size() > 0',
  ])('is stopped: %s', (text) => {
    const inputs = { long: Array.from({ length: 5_000 }, (_, index) => index + 1) };
    const startedAt = performance.now();
    expect(faultOf(() => holds(text, { inputs })).reason).toBe('expression_failed');
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  });
});

describe('a condition', () => {
  it.each([
    'review.score >= 0.8',
    'review.count + 1 == 6',
    '1 + review.count == 6 && review.count - 1 > 3 && review.count * 2 == 10',
    'review.count / 2 == 2.5 && review.count % 2 == 1',
    'size(review.list) == 3 && review.list.size() + 1 == 4',
    'review.list[review.count - 5] == 1',
    'review.text.startsWith("he") && review.text.contains("ll")',
    'review.tags.exists(t, t == "b") && !review.tags.all(t, t == "b")',
    'review.list.map(x, x * 2).filter(y, (y > 2)).size() == 2',
    'review.list.map(x, x > 1, x + 1) == [3, 4] && review.list.map(x,1 + x) == [2, 3, 4]',
    'size(review.list) + review.count == 8 && 1 + review.score > 1.5',
    'review.tags.exists_one(t, t in ["b", "c,"])',
    'nodes["a-b"].x == 2 && nodes.review.score > 0',
    'inputs.q == "why" && has(inputs.q) && !has(inputs.other)',
    'loop.item.n == 3 && loop.index == 1',
    'review.none == null && skipped == null',
    'nodes["skipped"] == null',
    'nodes["loop"].results == [1] && nodes["string"].x == 1',
    'execution.id == "exe_1" && execution["workflowId"] != ""',
    'true // loop "',
    '"loop" != "lo0p" && inputs["loop"] == "l" && inputs.loop == "l"',
    'review.text.matches("^h[a-z]+o$") && !review.text.matches("^x")',
    'review.text . matches ("(?i)HELL") && inputs.matches == 1',
    'inputs.list.exists(loop1, loop1 == 1)',
    'review.score > 0.5 ? review.count > 1 : false',
    'double(review.count) == 5.0 && int(review.score) == 0 && string(review.count) == "5"',
  ])('holds: %s', (text) => {
    const inputs = { q: 'why', loop: 'l', matches: 1, list: [1] };
    expect(holds(text, { inputs, loop: { item: { n: 3 }, index: 1 } })).toBe(true);
  });

  it('fails where a path leads to nothing or to no boolean', () => {
    expect(faultOf(() => holds('review.gone == 1')).message).toContain('gone');
    expect(faultOf(() => holds('skipped.x == 1')).reason).toBe('expression_failed');
    expect(faultOf(() => holds('review.text')).message).toContain('a string, not true or false');
    expect(faultOf(() => holds('review.text > 3')).reason).toBe('expression_failed');
  });

  it('says what it reads, without the variables of its own', () => {
    const { references } = compile(
      'review.list.exists(x, x > nodes["a-b"].x && inputs.min < x) && loop.index > 0',
    );
    expect([...references.nodes].toSorted()).toEqual(['a-b', 'review']);
    expect([...references.inputs]).toEqual(['min']);
    expect(references.usesLoop).toBe(true);
    expect(references.problems).toEqual([]);
  });
});
