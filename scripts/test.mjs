// `npm test`: prepares the clone, then runs every test; further arguments go to vitest. Closes with the
// counts on a line of their own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

prepare();
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'ennead-report-'));
const report = join(folder, 'report.json');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', ...reporters, ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
);
printCounts();
rmSync(folder, { recursive: true });
process.exit(status ?? 1);

function printCounts() {
  try {
    const counts = JSON.parse(readFileSync(report, 'utf8'));
    const skipped = counts.numPendingTests > 0 ? `, ${counts.numPendingTests} skipped` : '';
    console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed${skipped}`);
  } catch {
    console.log('0 passed, 1 failed');
  }
}
