import type { Database } from '../../kit/database/database.ts';
import { asBuffer } from '../bytes.ts';
import { chunksPerDay } from './days.ts';
import type { Write } from './writes.ts';

/**
 * Stores the chunks of a write, as parts of a `with`; `piece` tells of each its `number`, from 1 on, and its
 * `id`. The parameters are `chunkParameters`, from the first on.
 */
export const storedChunks = `piece as materialized (
    select number,
      $1::bigint * ${chunksPerDay} + nextval('tracer.chunk_number') % ${chunksPerDay} as id,
      substring($2::bytea from (sum(bytes) over (order by number) - bytes)::integer + 1 for bytes) as body
    from unnest($3::integer[]) with ordinality as p (bytes, number)),
  stored as (insert into tracer.chunk (id, body) select id, body from piece)`;

/** `$1` to `$3` of `storedChunks`. */
export function chunkParameters({ day, body, chunks }: Pick<Write, 'day' | 'body' | 'chunks'>) {
  return [day, asBuffer(body), chunks.map(({ bytes }) => bytes)];
}

/** The bodies of chunks, by their numbers; dropped ones are not there. */
export async function readChunks(
  database: Database,
  ids: readonly number[],
): Promise<Map<number, Buffer>> {
  const rows = await database.query<{ id: number; body: Buffer }>(
    'select id, body from tracer.chunk where id = any($1::bigint[])',
    [ids],
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}
