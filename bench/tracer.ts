// What the tracer costs: spans stored and analysed beside the mere reading of them, bytes of a span, and
// how fast it answers, and leaves the event loop to others, while spans come in.
import type { Figure } from './harness/figure.ts';
import { printReport, type Part } from './harness/report.ts';
import { makeStock, measureTracer } from './tracer/contest.ts';
import { chosenDepth } from './tracer/depth.ts';
import { figuresOf } from './tracer/figures.ts';
import { PostgresServer } from './tracer/postgres.ts';

const depth = chosenDepth();
process.stderr.write(`bench: making ${depth.spans.toLocaleString('en-US')} spans …\n`);
const slices = makeStock(depth);

async function measurePglite(): Promise<Figure[]> {
  const database = { name: 'PGlite', spansPerCoreGoal: 60_000, hasServer: false };
  return figuresOf(database, await measureTracer(depth, slices));
}

async function measurePostgres(): Promise<Figure[]> {
  await using server = await PostgresServer.start();
  if (!server) {
    process.stderr.write('bench: PostgreSQL is skipped: none of 15 or newer is installed\n');
    return [];
  }
  const name = `PostgreSQL ${server.version}`;
  const database = { name, spansPerCoreGoal: 100_000, hasServer: true };
  return figuresOf(database, await measureTracer(depth, slices, server));
}

const parts: readonly Part[] = [
  ['the tracer on PGlite', measurePglite],
  ['the tracer on PostgreSQL', measurePostgres],
];
const wanted = ['--pglite', '--postgres'].findIndex((flag) => process.argv.includes(flag));
await printReport(wanted < 0 ? parts : parts.slice(wanted, wanted + 1));
