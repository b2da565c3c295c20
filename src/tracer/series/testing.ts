import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { Deltas } from './deltas.ts';
import { Retention } from './retention.ts';
import { applyAdditions, type StatementParts } from './series-store.ts';
import type { Sample, SeriesKind } from './series.ts';

/** A database with empty tables of the tracer. */
export function openTracerDatabase(): Promise<Database> {
  return openTestTables('tracer', new URL('../migrations/', import.meta.url));
}

/** Has the partitions ready for a clock. */
export async function preparePartitions(database: Database, nowMs: number): Promise<void> {
  await using _ = await Retention.open({ sql: database, log: silentLog, nowMs: () => nowMs });
}

/** Runs parts of a statement as intake does. */
export async function runParts(database: Database, parts: StatementParts): Promise<void> {
  if (parts.ctes.length === 0) return;
  await database.query(`with ${parts.ctes.join(', ')} select 1`, parts.parameters);
}

/** Adds samples to the series, or takes them back. */
export async function addSamples(
  database: Database,
  samples: readonly Sample[],
  { nowMs, sign = 1 }: { readonly nowMs: number; readonly sign?: 1 | -1 },
): Promise<void> {
  const deltas = new Deltas({ nowUs: () => nowMs * 1_000 });
  deltas.add(samples, sign);
  await runParts(database, applyAdditions(deltas.drain(), 1));
}

/** A sample of a duration. */
export function duration(
  kind: SeriesKind,
  labels: readonly string[],
  fields: { readonly atMs: number; readonly us: number; readonly isError?: boolean },
): Sample {
  const { atMs, us, isError = false } = fields;
  return { kind, labels, atUs: atMs * 1_000, isError, amount: us, isDuration: true };
}
