import { cpus, loadavg } from 'node:os';
import { valueOf } from './arguments.ts';
import { formatFigures, type Figure } from './figure.ts';

/** One part of a benchmark: what it measures, for the progress line, and how. */
export type Part = readonly [what: string, measure: () => Promise<readonly Figure[]>];

/**
 * Measures the parts in turn, or the one that `--only=` names, prints their figures and ends the process, with
 * 1 when a part failed, which is said. Databases that are borrowed from the tests are never closed.
 */
export async function printReport(parts: readonly Part[]): Promise<never> {
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const [what, measure] of chosenOf(parts)) {
    process.stderr.write(`bench: measuring ${what} …\n`);
    try {
      figures.push(...(await measure()));
    } catch (error) {
      failures.push(`${what} could not be measured: ${(error as Error).message}`);
    }
  }
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(
    `Node.js ${process.versions.node}, ${cpus().length} x ${cpu?.model}, load ${load.join(' ')}\n`,
  );
  console.log(formatFigures(figures));
  for (const failure of failures) console.log(`\n${failure}`);
  process.exit(failures.length > 0 ? 1 : 0);
}

function chosenOf(parts: readonly Part[]): readonly Part[] {
  const only = valueOf('only');
  const chosen = parts.filter(([what]) => only === undefined || what === only);
  if (chosen.length > 0) return chosen;
  throw new Error(`--only= names one of: ${parts.map(([what]) => what).join(', ')}`);
}
