import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readTestOutput } from './test-output.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.txt`, import.meta.url), 'utf8');
const ofNode = { passed: 2, failed: 2, skipped: 2 };
const ofVitest = { passed: 1, failed: 2, skipped: 2 };

test('what is no report counts nothing', () => {
  const nothing = { passed: 0, failed: 0, skipped: 0, cases: [] };
  expect(readTestOutput('')).toEqual(nothing);
  expect(readTestOutput('all is well\n3 passed the door, 2 failed')).toEqual(nothing);
  expect(readTestOutput('{"numTotalTests": 3, broken')).toEqual(nothing);
});

test.each([
  ['node-tap', ofNode],
  ['node-spec', ofNode],
  ['node-junit', ofNode],
  ['vitest-json', ofVitest],
  ['vitest-junit', ofVitest],
  ['vitest-tap', ofVitest],
  ['vitest-default', ofVitest],
])('%s is counted as its runner counts', (name, counts) => {
  expect(readTestOutput(fixture(name))).toMatchObject(counts);
  expect(readTestOutput(`\n> test\n> run\n\n${fixture(name)}\nnpm notice\n`)).toMatchObject(counts);
});

test.each(['node-tap', 'node-junit', 'vitest-json', 'vitest-junit', 'vitest-tap'])(
  '%s names what failed, and why',
  (name) => {
    const failed = readTestOutput(fixture(name)).cases.filter(({ status }) => status === 'failed');
    expect(failed).toHaveLength(2);
    const [first, second] = failed;
    expect(first?.name).toContain('subtracts');
    expect(first?.message).toMatch(/2/);
    // JUnit of Node.js 20 escapes names twice.
    expect(second?.name).toMatch(/hold .*things.* & <tags>/);
    expect(second?.message).toMatch(/no\s*things/);
  },
);

test('names stand below those that hold them', () => {
  const names = (name: string) => readTestOutput(fixture(name)).cases.map((one) => one.name);
  const nested = 'lists > nested > hold "things" & <tags>';
  expect(names('node-tap')).toEqual([
    'adds',
    'subtracts # oddly',
    'divides',
    'roots',
    'lists > are empty',
    nested,
  ]);
  expect(names('node-spec')).toContain(nested);
  expect(names('vitest-tap')).toContain('v.test.ts > lists > hold "things" & <tags>');
});

test('a suite that fails by itself, and a run that is given up, are failures', () => {
  const tap =
    'TAP version 13\n# Subtest: s\n    ok 1 - a\n    1..1\nnot ok 1 - s\nBail out! no disk\n';
  const { failed, passed, cases } = readTestOutput(tap);
  expect({ failed, passed }).toEqual({ failed: 2, passed: 1 });
  expect(cases.at(-1)).toEqual({ name: 'Bail out!', status: 'failed', message: 'no disk' });
  const file = { name: 'a.test.ts', status: 'failed', message: 'no such module' };
  const json = JSON.stringify({
    numTotalTests: 0,
    testResults: [{ ...file, assertionResults: [] }],
  });
  expect(readTestOutput(json)).toMatchObject({ failed: 1, cases: [file] });
});

test('hostile reports take no longer than they are long', () => {
  const xml = `<testsuite>${'<testcase name="'.repeat(50_000)}${'<'.repeat(200_000)}`;
  expect(readTestOutput(xml).cases.length).toBeLessThanOrEqual(1_000);
  const tap = `TAP version 13\n${'not ok 1 - x\n'.repeat(100_000)}`;
  const read = readTestOutput(tap);
  expect([read.failed, read.cases.length]).toEqual([100_000, 1_000]);
});
