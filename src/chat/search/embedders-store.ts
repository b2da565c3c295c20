import type { Database } from '../../kit/database/database.ts';
import { fromBytes, toBytes } from '../../kit/vectors/embed-texts.ts';
import type { Calibration } from './calibration.ts';

export type SearchSql = Pick<Database, 'query'>;

/** An embedder as it was first met. */
export interface KnownEmbedder {
  readonly id: number;
  readonly name: string;
  readonly dimensions: number;
  /** Its vector of the probe text. */
  readonly probe: Float32Array;
  readonly calibration: Calibration;
  /** All messages up to this id have vectors of it. */
  readonly indexedTo: string;
}

interface EmbedderRow {
  readonly id: number;
  readonly name: string;
  readonly dimensions: number;
  readonly probe: Buffer;
  readonly cosine_weight: number;
  readonly cosine_bias: number;
  readonly both_weight: number;
  readonly both_bias: number;
  readonly indexed_to: string;
}

/** Those of a name and with so many dimensions, the latest first. */
export async function findEmbedders(
  sql: SearchSql,
  { name, dimensions }: Pick<KnownEmbedder, 'name' | 'dimensions'>,
): Promise<KnownEmbedder[]> {
  const rows = await sql.query<EmbedderRow>(
    'select * from chat.search_embedders where name = $1 and dimensions = $2 order by id desc',
    [name, dimensions],
  );
  return rows.map(toEmbedder);
}

export async function insertEmbedder(
  sql: SearchSql,
  embedder: Omit<KnownEmbedder, 'id' | 'indexedTo'>,
): Promise<KnownEmbedder> {
  const { name, dimensions, probe, calibration } = embedder;
  const { cosine, both } = calibration;
  const [row] = await sql.query<{ id: number }>(
    `insert into chat.search_embedders
       (name, dimensions, probe, cosine_weight, cosine_bias, both_weight, both_bias)
     values ($1, $2, $3, $4, $5, $6, $7) returning id`,
    [name, dimensions, toBytes(probe), cosine.weight, cosine.bias, both.weight, both.bias],
  );
  return { ...embedder, id: row?.id ?? 0, indexedTo: '' };
}

export async function markIndexed(sql: SearchSql, id: number, indexedTo: string): Promise<void> {
  await sql.query('update chat.search_embedders set indexed_to = $2 where id = $1', [
    id,
    indexedTo,
  ]);
}

/** Takes the lease, or keeps it, until so many milliseconds from now; false while another has it. */
export async function takeLease(
  sql: SearchSql,
  { name, holder, lengthMs }: { name: string; holder: string; lengthMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into chat.search_lease as l (name, holder, held_until)
     values ($1, $2, now() + $3 * interval '1 millisecond')
     on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
       where l.holder = excluded.holder or l.held_until < now()
     returning 1`,
    [name, holder, lengthMs],
  );
  return rows.length > 0;
}

/** Lets another have it at once. */
export async function dropLease(sql: SearchSql, name: string, holder: string): Promise<void> {
  await sql.query('delete from chat.search_lease where name = $1 and holder = $2', [name, holder]);
}

function toEmbedder(row: EmbedderRow): KnownEmbedder {
  return {
    id: row.id,
    name: row.name,
    dimensions: row.dimensions,
    probe: fromBytes(row.probe),
    calibration: {
      cosine: { weight: row.cosine_weight, bias: row.cosine_bias },
      both: { weight: row.both_weight, bias: row.both_bias },
    },
    indexedTo: row.indexed_to,
  };
}
