import type { SearchSql } from './embedders-store.ts';

/** Of which messages words are made in one statement. */
export interface RenewalPortion {
  /** Up to where words were made anew, as `findRenewed` told. */
  readonly from: string;
  readonly count: number;
  /** Of their texts together; one message is taken however long it is. */
  readonly bytes: number;
  /** Passes them over. */
  readonly isSkipped: boolean;
}

/** Up to which message words have been made anew; undefined once those of all are. */
export async function findRenewed(sql: SearchSql): Promise<string | undefined> {
  const [row] = await sql.query<{ renewed_to: string }>(
    'select renewed_to from chat.words_renewal',
  );
  return row?.renewed_to;
}

/**
 * Makes the words of the next messages anew, of those whose text is not in normal form, and remembers how far it
 * came; does nothing while another replica does so, or where one has since come further.
 */
export async function renewWords(sql: SearchSql, portion: RenewalPortion): Promise<void> {
  await sql.query(
    `with renewal as materialized (
       select renewed_to from chat.words_renewal where renewed_to = $4 for update skip locked
     ), sized as (
       select id, sum(size) over (order by id) - size as before from (
         select m.id, octet_length(m.content) as size from chat.messages m
         where m.id > (select renewed_to from renewal) order by m.id limit $1::int
       ) next
     ), portion as materialized (
       select id from sized where before < $2::float8
     ), renewed as (
       update chat.messages m set words = chat.all_words_of(m.content) from portion p
       where m.id = p.id and not $3::boolean
         and octet_length(m.content) > length(m.content) and m.content is not nfkc normalized
     ), moved as (
       update chat.words_renewal set renewed_to = (select max(id) from portion)
       where exists (select 1 from portion)
     )
     delete from chat.words_renewal
     where exists (select 1 from renewal) and not exists (select 1 from portion)`,
    [portion.count, portion.bytes, portion.isSkipped, portion.from],
  );
}
