import type { TestReport } from '../../tasks/task.ts';

export type TestCase = TestReport['cases'][number];
export type TestCounts = Pick<TestReport, 'passed' | 'failed' | 'skipped'>;

const casesMax = 1_000;
const nameCharsMax = 300;
const messageCharsMax = 2_000;
const messagesCharsMax = 100_000;

export function countCases(cases: readonly TestCase[]): TestCounts {
  const count = (wanted: TestCase['status']) =>
    cases.filter(({ status }) => status === wanted).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

/** Those that a report has room for: the failed ones first, each with the beginning of its message. */
export function boundCases(cases: readonly TestCase[]): readonly TestCase[] {
  const isFailed = ({ status }: TestCase) => status === 'failed';
  const ordered =
    cases.length > casesMax
      ? [...cases.filter(isFailed), ...cases.filter((one) => !isFailed(one))]
      : cases;
  let room = messagesCharsMax;
  return ordered.slice(0, casesMax).map(({ name, status, message }) => {
    const kept = message?.trim().slice(0, Math.min(messageCharsMax, room)) ?? '';
    room -= kept.length;
    return { name: name.slice(0, nameCharsMax), status, ...(kept === '' ? {} : { message: kept }) };
  });
}
