// What the foundation costs: a request, a token, a span, a start, memory, disk.
import { cpus, loadavg } from 'node:os';
import { formatFigures, type Figure } from './harness/figure.ts';
import { quick, whole } from './foundation/depth.ts';
import { measureEdge } from './foundation/edge.ts';
import { measureInstallSize } from './foundation/install-size.ts';
import { measureSpans } from './foundation/spans.ts';
import { measureStartup } from './foundation/startup.ts';
import { measureTokens } from './foundation/tokens.ts';

const depth = process.argv.includes('--quick') ? quick : whole;

const parts: readonly (readonly [string, () => Promise<readonly Figure[]>])[] = [
  ['the edge', () => measureEdge(depth)],
  ['tokens', () => measureTokens(depth)],
  ['spans', () => measureSpans(depth)],
  ['starting', () => measureStartup(depth)],
  ['the installation', async () => (depth.isWhole ? [await measureInstallSize()] : [])],
];

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
