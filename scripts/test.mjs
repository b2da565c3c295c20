// `npm test`: prepares the clone, then runs the tests but for the slow ones, which `npm run test:slow`
// runs. Arguments go to vitest; with one that names tests, those run, slow or not. Closes with the counts
// on a line of their own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

prepare();

/** Parts of the paths of tests that start processes of their own, or wait for some to die. */
const slow = ['test/journeys/', 'test/faults/', '.slow.test.ts'];

const asked = process.argv.slice(2);
const parameters = asked[0] === '--slow' ? [...slow, ...asked.slice(1)] : asked;
if (asked.length === 0) parameters.push(...slow.map((part) => `--exclude=**/${globOf(part)}`));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'ennead-report-'));
const report = join(folder, 'report.json');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const { status } = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...parameters], {
  stdio: 'inherit',
});
printCounts();
rmSync(folder, { recursive: true });
process.exit(status ?? 1);

function globOf(part) {
  return part.endsWith('/') ? `${part}**` : `*${part}`;
}

function printCounts() {
  try {
    const counts = JSON.parse(readFileSync(report, 'utf8'));
    const skipped = counts.numPendingTests > 0 ? `, ${counts.numPendingTests} skipped` : '';
    console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed${skipped}`);
  } catch {
    console.log('0 passed, 1 failed');
  }
}
