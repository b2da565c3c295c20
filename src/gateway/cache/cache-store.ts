import type { Database } from '../../kit/database/database.ts';
import { bytesOf, type CacheEntry, type Eviction } from './cache-entry.ts';

/** What the statements of the cache run on. */
export type CacheSql = Pick<Database, 'query'>;

interface EntryRow {
  readonly tenant: string;
  readonly namespace: string;
  readonly body: Buffer;
  readonly provider: string;
  readonly model: string;
  readonly source: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** The entry of a key, its time over or not. */
export async function readEntry(sql: CacheSql, key: string): Promise<CacheEntry | undefined> {
  const [row] = await sql.query<EntryRow>(
    `select tenant, namespace, body, provider, model, source, input_tokens, output_tokens, created_at,
       expires_at
     from gateway.cache where key = $1`,
    [key],
  );
  if (!row) return undefined;
  const { tenant, namespace, body, provider, model, source } = row;
  return {
    key,
    tenant,
    namespace,
    body,
    provider,
    model,
    source,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  };
}

/** Writes entries over those of the same keys, in one statement. The keys differ. */
export async function writeEntries(sql: CacheSql, entries: readonly CacheEntry[]): Promise<void> {
  // In one order, so that replicas that write the same keys do not wait for each other in a circle.
  const rows = entries.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  await sql.query(
    `insert into gateway.cache (key, tenant, namespace, body, provider, model, input_tokens,
       output_tokens, bytes, created_at, expires_at, source)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[],
       $7::bigint[], $8::bigint[], $9::bigint[], $10::timestamptz[], $11::timestamptz[],
       $12::text[])
     on conflict (key) do update set body = excluded.body, provider = excluded.provider,
       model = excluded.model, source = excluded.source, input_tokens = excluded.input_tokens,
       output_tokens = excluded.output_tokens, bytes = excluded.bytes,
       created_at = excluded.created_at, expires_at = excluded.expires_at,
       used_at = excluded.used_at`,
    [
      rows.map(({ key }) => key),
      rows.map(({ tenant }) => tenant),
      rows.map(({ namespace }) => namespace),
      rows.map(({ body }) => body),
      rows.map(({ provider }) => provider),
      rows.map(({ model }) => model),
      rows.map(({ inputTokens }) => inputTokens),
      rows.map(({ outputTokens }) => outputTokens),
      rows.map(bytesOf),
      rows.map(({ createdAtMs }) => new Date(createdAtMs)),
      rows.map(({ expiresAtMs }) => new Date(expiresAtMs)),
      rows.map(({ source }) => source),
    ],
  );
}

/** Says that entries were used just now; those that are being written are left out. */
export async function touchEntries(sql: CacheSql, keys: readonly string[]): Promise<void> {
  await sql.query(
    `update gateway.cache set used_at = clock_timestamp() where key in (
       select key from gateway.cache where key = any($1::text[]) for update skip locked)`,
    [keys],
  );
}

/** Deletes what is meant and answers the keys. */
export async function deleteEntries(sql: CacheSql, eviction: Eviction): Promise<string[]> {
  const { tenant, namespace, key } = eviction;
  const rows = await sql.query<{ key: string }>(
    `delete from gateway.cache
     where ($1::text is null or tenant = $1) and ($2::text is null or namespace = $2)
       and ($3::text is null or (key >= $3 and key < $3 || 'g'))
     returning key`,
    [tenant, namespace, key],
  );
  return rows.map((row) => row.key);
}

/** Deletes entries whose time is over. */
export async function deleteExpiredEntries(sql: CacheSql): Promise<void> {
  await sql.query(
    `delete from gateway.cache where key in (
       select key from gateway.cache where expires_at <= clock_timestamp() for update skip locked)`,
  );
}

/** Deletes those used longest ago, when all together are larger than the bound, down to 9/10 of it. */
export async function trimEntries(sql: CacheSql, bytesMax: number): Promise<void> {
  await sql.query(
    `with ranked as (
       select used_at, sum(bytes) over (order by used_at desc) as running from gateway.cache),
     cutoff as (
       select max(used_at) as used_at from ranked
       where running > $1::bigint * 0.9 and (select max(running) from ranked) > $1::bigint)
     delete from gateway.cache where key in (
       select key from gateway.cache where used_at <= (select used_at from cutoff)
       for update skip locked)`,
    [bytesMax],
  );
}

/** What all entries together count for. */
export async function measureEntries(sql: CacheSql): Promise<{ entries: number; bytes: number }> {
  const [row] = await sql.query<{ entries: number; bytes: number }>(
    'select count(*) as entries, coalesce(sum(bytes), 0)::bigint as bytes from gateway.cache',
  );
  return row ?? { entries: 0, bytes: 0 };
}
