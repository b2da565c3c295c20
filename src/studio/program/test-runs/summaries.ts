import type { TestCase, TestCounts } from './test-case.ts';

interface Summary {
  readonly counts: TestCounts;
  readonly cases: readonly TestCase[];
}

/** What a summary for people says; nothing at all where there is none. */
export function readSummary(text: string): Summary {
  const node = readNodeSummary(text);
  if (node) return { counts: node, cases: readNodeCases(text) };
  return { counts: readTestsLine(text) ?? { passed: 0, failed: 0, skipped: 0 }, cases: [] };
}

/** The last lines of `node --test`: `ℹ pass 3`, or `# pass 3`. */
function readNodeSummary(text: string): TestCounts | undefined {
  const count = (name: string) => {
    const found = [...text.matchAll(new RegExp(`^[ℹ#] ${name} (\\d+)$`, 'gm'))].at(-1);
    return found ? Number(found[1]) : undefined;
  };
  const [tests, passed, failed] = [count('tests'), count('pass'), count('fail')];
  if (tests === undefined || passed === undefined || failed === undefined) return undefined;
  const skipped = (count('skipped') ?? 0) + (count('todo') ?? 0);
  return { passed, failed: failed + (count('cancelled') ?? 0), skipped };
}

/** The lines of `node --test`’s spec reporter, those of suites left out. */
function readNodeCases(text: string): readonly TestCase[] {
  const [before = ''] = text.split(/^ℹ tests \d+$/m);
  const cases: TestCase[] = [];
  const suites: string[] = [];
  for (const line of before.split(/\r?\n/)) {
    const [, blanks = '', mark = '', rest = ''] = /^(\s*)([▶✔✖﹣])\s+(.*)$/u.exec(line) ?? [];
    if (mark === '') continue;
    const depth = Math.floor(blanks.length / 2);
    const name = rest.replace(/\s+\([\d.]+ms\)/, '').replace(/\s+# (SKIP|TODO)\b.*$/, '');
    const isSuiteEnd = suites.length > depth && suites[depth] === name;
    suites.length = Math.min(suites.length, depth);
    if (isSuiteEnd) continue;
    if (mark === '▶') suites[depth] = name;
    else cases.push({ name: [...suites, name].join(' > '), status: statusOf(mark, rest) });
  }
  return cases;
}

function statusOf(mark: string, rest: string): TestCase['status'] {
  if (mark === '﹣' || /# (SKIP|TODO)\b/.test(rest)) return 'skipped';
  return mark === '✔' ? 'passed' : 'failed';
}

/** `Tests  1 failed | 2 passed (3)` of vitest, `Tests: 1 failed, 2 passed, 3 total` of jest. */
function readTestsLine(text: string): TestCounts | undefined {
  const line = [...text.matchAll(/^\s*Tests:?\s+(.*\b(?:passed|failed|skipped|todo)\b.*)$/gm)].at(
    -1,
  );
  if (!line) return undefined;
  const count = (name: string) =>
    Number(new RegExp(`(\\d+) ${name}`).exec(line[1] ?? '')?.[1] ?? 0);
  const skipped = count('skipped') + count('pending') + count('todo');
  return { passed: count('passed'), failed: count('failed'), skipped };
}
