import { toStoredTurn, turnColumns, type StoredTurn, type TurnRow } from './turn-row.ts';
import { leaseSeconds, type TurnSql } from './turns-store.ts';

const removedMax = 500;
const adoptedMax = 50;

/** Keeps turns for their replica, and answers which of them it still has and which are to stop. */
export async function renewLeases(
  sql: TurnSql,
  replica: string,
  turnIds: readonly string[],
): Promise<readonly { readonly id: string; readonly isStopping: boolean }[]> {
  const rows = await sql.query<{ id: string; is_stopping: boolean }>(
    `update chat.turns set lease_until = now() + make_interval(secs => ${leaseSeconds})
     where id = any($2::text[]) and replica = $1 and status = 'running' returning id, is_stopping`,
    [replica, turnIds],
  );
  return rows.map(({ id, is_stopping: isStopping }) => ({ id, isStopping }));
}

/**
 * Takes over turns that nobody runs any more, to end them; one that is alone knows that all but its own
 * are such. Forgets some of those that ended an hour ago.
 */
export async function adoptTurns(
  sql: TurnSql,
  replica: string,
  { isAlone }: { readonly isAlone: boolean },
): Promise<StoredTurn[]> {
  const rows = await sql.query<TurnRow>(
    `with old as (
       delete from chat.turns where id in (select id from chat.turns
         where ended_at < now() - interval '1 hour' order by ended_at limit ${removedMax})
     )
     update chat.turns set replica = $1,
       lease_until = now() + make_interval(secs => ${leaseSeconds})
     where id in (select id from chat.turns where status = 'running'
         and (lease_until < now() or ($2 and replica <> $1))
       order by lease_until limit ${adoptedMax} for update skip locked)
     returning ${turnColumns}`,
    [replica, isAlone],
  );
  return rows.map(toStoredTurn);
}
