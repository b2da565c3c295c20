import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesPattern } from './patterns.ts';

const matches = (text: string, pattern: string) => matchesPattern(text, pattern, () => {});

it.each([
  '(',
  ')',
  '[a',
  '*a',
  'a**',
  'a{2,1}',
  'a{5000}',
  '(?<n>a)',
  '\\p{L}',
  '[z-a]',
  '\\',
  '((a{1000}){1000})',
])('refuses %s', (pattern) => {
  expect(() => matches('a', pattern)).toThrow(/^the pattern /);
});

it('finds what JavaScript finds', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', 'é', '^', '$', '\\b');
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: 'small' },
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, two]) => one + two),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, two]) => `(?:${one}|${two})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?'))
        .map(([one, bound]) => `(${one})${bound}`),
    ),
  }));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '\n', 'é'), maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (source, sample) => {
      expect(matches(sample, source)).toBe(new RegExp(source, 'u').test(sample));
    }),
    { numRuns: 500 },
  );
});

it('takes time in proportion to the text', () => {
  let spent = 0;
  const found = matchesPattern('a'.repeat(20_000), '(a+)+(a+)+$b', (size) => {
    spent += size;
  });
  expect(found).toBe(false);
  expect(spent).toBeLessThan(20_000 * 10);
});
