// What durable executions cost beside the bare statements and beside DBOS's steps, on PGlite and, where
// it is installed, on PostgreSQL; how long a killed process's executions take; the memory of a batch.
import { chosenDepth } from './harness/depth.ts';
import type { Figure } from './harness/figure.ts';
import { printReport, type Part } from './harness/report.ts';
import { PostgresServer } from './tracer/postgres.ts';
import { measureBatch } from './workflow/batch-memory.ts';
import { measureChains } from './workflow/chains.ts';
import { measureLongFlows } from './workflow/long-flows.ts';
import { measureRecovery } from './workflow/recovery.ts';

const depth = chosenDepth();

async function measureOn(url: string | undefined): Promise<Figure[]> {
  return [
    ...(await measureChains(depth, url)),
    ...(await measureLongFlows(depth, url)),
    ...(await measureRecovery(depth, url)),
  ];
}

async function measurePostgres(): Promise<Figure[]> {
  await using server = await PostgresServer.start();
  // Awaited here: the server stops when this returns.
  if (server) return await measureOn(server.url);
  process.stderr.write('bench: PostgreSQL is skipped: none of 15 or newer is installed\n');
  return [];
}

async function measurePglite(): Promise<Figure[]> {
  return [...(await measureOn(undefined)), ...(await measureBatch())];
}

const parts: readonly Part[] = [
  ['executions on PGlite', measurePglite],
  ['executions on PostgreSQL', measurePostgres],
];
const wanted = ['--pglite', '--postgres'].findIndex((flag) => process.argv.includes(flag));
await printReport(wanted < 0 ? parts : parts.slice(wanted, wanted + 1));
