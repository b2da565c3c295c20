import { cpus, loadavg } from 'node:os';
import { formatFigures, type Figure } from './figure.ts';

/** One part of a benchmark: what it measures, for the progress line, and how. */
export type Part = readonly [what: string, measure: () => Promise<readonly Figure[]>];

/** Measures the parts in turn and prints their figures; a part that fails is said and sets the exit code. */
export async function printReport(parts: readonly Part[]): Promise<void> {
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const [what, measure] of parts) {
    process.stderr.write(`bench: measuring ${what} …\n`);
    try {
      figures.push(...(await measure()));
    } catch (error) {
      failures.push(`${what} could not be measured: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(
    `Node.js ${process.versions.node}, ${cpus().length} x ${cpu?.model}, load ${load.join(' ')}\n`,
  );
  console.log(formatFigures(figures));
  for (const failure of failures) console.log(`\n${failure}`);
}
