// Runs vitest. With CI set, files that fail run once more, each by itself: a shared machine that stalls
// for a second shall not refuse a change, and what is broken fails twice. Such files are named at the end.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));

/** More than these are no stall. */
const againMax = 5;

/**
 * Runs the tests with vitest's parameters, and those of `filter` that say which.
 *
 * @returns vitest's exit status, and the counts of all tests as one line.
 */
export function runTests({ filter = [], parameters = [], env = process.env }) {
  const first = runOnce([...parameters, ...filter], env);
  if (first.status === 0 || !env.CI || first.failed.length === 0) return summaryOf(first);
  if (first.failed.length > againMax) return summaryOf(first);
  const total = { ...first, status: 0 };
  for (const file of first.failed) {
    console.log(`again, by itself: ${file.path}`);
    const again = runOnce([...parameters, file.path], env);
    if (again.status !== 0) total.status = again.status;
    for (const count of ['passed', 'broken', 'skipped']) {
      total[count] += again[count] - file[count];
    }
  }
  const outcome = total.status === 0 ? 'passed' : 'did not all pass';
  console.log(
    `failed at first, and ${outcome} alone: ${first.failed.map((f) => f.path).join(', ')}`,
  );
  return summaryOf(total);
}

function summaryOf({ status, passed, broken, skipped }) {
  const counts = `${passed} passed, ${broken} failed`;
  return { status, counts: skipped > 0 ? `${counts}, ${skipped} skipped` : counts };
}

function runOnce(parameters, env) {
  const folder = mkdtempSync(join(tmpdir(), 'ennead-report-'));
  const path = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`];
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...parameters], {
    stdio: 'inherit',
    env,
  });
  const report = read(path);
  rmSync(folder, { recursive: true });
  return { status: status ?? 1, ...report };
}

function read(path) {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'));
    return {
      passed: report.numPassedTests,
      broken: report.numFailedTests,
      skipped: report.numPendingTests,
      failed: report.testResults.filter(({ status }) => status === 'failed').map(fileOf),
    };
  } catch {
    return { passed: 0, broken: 1, skipped: 0, failed: [] };
  }
}

function fileOf({ name, assertionResults }) {
  const count = (...statuses) =>
    assertionResults.filter(({ status }) => statuses.includes(status)).length;
  return {
    path: relative(process.cwd(), name),
    passed: count('passed'),
    broken: count('failed'),
    skipped: count('pending', 'skipped'),
  };
}
