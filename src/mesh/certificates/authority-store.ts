import type { Database } from '../../kit/database/database.ts';

export type RootSql = Pick<Database, 'query'>;

/** A root as it is stored. */
export interface RootRow {
  readonly generation: number;
  /** PEM. */
  readonly certificate: string;
  /** Sealed; empty when it signs no more. */
  readonly private_key: string;
  readonly signs_from: Date;
  readonly trusted_until: Date;
}

/** All roots that are trusted at a time, and the newest in any case; the newest first. */
export function readRoots(sql: RootSql, now: Date): Promise<RootRow[]> {
  return sql.query<RootRow>(
    `select generation, certificate, private_key, signs_from, trusted_until
     from mesh.certificate_roots
     where trusted_until > $1::timestamptz
       or generation = (select max(generation) from mesh.certificate_roots)
     order by generation desc`,
    [now],
  );
}

/**
 * Stores a root, and how long the one before it stays trusted, unless another replica stored one of
 * this generation first.
 */
export async function insertRoot(
  sql: RootSql,
  root: RootRow,
  previousTrustedUntil: Date,
): Promise<void> {
  await sql.query(
    `with made as (
       insert into mesh.certificate_roots
         (generation, certificate, private_key, signs_from, trusted_until)
       values ($1, $2, $3, $4::timestamptz, $5::timestamptz)
       on conflict (generation) do nothing returning generation
     )
     update mesh.certificate_roots
     set trusted_until = least(trusted_until, $6::timestamptz)
     where generation = $1 - 1 and exists (select 1 from made)`,
    [
      root.generation,
      root.certificate,
      root.private_key,
      root.signs_from,
      root.trusted_until,
      previousTrustedUntil,
    ],
  );
}

/** Erases the private halves of roots that nobody trusts any more. */
export async function erasePrivateKeys(sql: RootSql, now: Date): Promise<void> {
  await sql.query(
    `update mesh.certificate_roots set private_key = ''
     where trusted_until <= $1::timestamptz and private_key <> ''`,
    [now],
  );
}
