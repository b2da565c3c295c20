import { readJestReport } from './jest-report.ts';
import { readJunit } from './junit.ts';
import { readSummary } from './summaries.ts';
import { readTap } from './tap.ts';
import { boundCases, countCases, type TestCase, type TestCounts } from './test-case.ts';

// Terminals' colours are no part of what is said.
// oxlint-disable-next-line no-control-regex
const colours = /\u001b\[[\d;]*[A-Za-z]/g;

/**
 * What a test command printed, as counts and cases: the JSON of vitest and jest, JUnit XML, TAP, and
 * the summaries of `node --test`, vitest and jest. Nothing at all counts for what is none of these.
 */
export function readTestOutput(
  printed: string,
): TestCounts & { readonly cases: readonly TestCase[] } {
  const text = printed.replaceAll(colours, '');
  for (const read of [readJestReport, readJunit, readTap]) {
    const cases = read(text);
    if (cases) return { ...countCases(cases), cases: boundCases(cases) };
  }
  const { counts, cases } = readSummary(text);
  return { ...counts, cases: boundCases(cases) };
}
