import type { TestCase } from './test-case.ts';

const mark = '"numTotalTests"';

interface Report {
  readonly testResults?: readonly {
    readonly name?: string;
    readonly status?: string;
    readonly message?: string;
    readonly assertionResults?: readonly {
      readonly fullName?: string;
      readonly title?: string;
      readonly status?: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** The cases in the JSON report of jest and vitest; undefined where there is none. */
export function readJestReport(text: string): readonly TestCase[] | undefined {
  const at = text.indexOf(mark);
  if (at === -1) return undefined;
  const start = text.lastIndexOf('\n{', at) + 1;
  const end = text.lastIndexOf('}') + 1;
  const report = parse(text.slice(start, end)) ?? parse(lineFrom(text, start));
  return report?.testResults?.flatMap((file) => {
    const { name = 'a test file', status, message = '', assertionResults = [] } = file;
    const cases = assertionResults.map((one) => ({
      name: one.fullName?.trim() || (one.title ?? ''),
      status: statusOf(one.status),
      message: (one.failureMessages ?? []).join('\n'),
    }));
    const isBroken = status === 'failed' && !cases.some((one) => one.status === 'failed');
    return isBroken ? [...cases, { name, status: 'failed' as const, message }] : cases;
  });
}

function lineFrom(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? undefined : end);
}

function parse(text: string): Report | undefined {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return undefined;
  }
}

function statusOf(status: string | undefined): TestCase['status'] {
  if (status === 'passed') return 'passed';
  return status === 'failed' ? 'failed' : 'skipped';
}
