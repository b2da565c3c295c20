import { sql as raw } from 'kysely';
import type { AuditRow, Sql } from '../tables.ts';
import type { ChainHead } from './chain.ts';
import type { SignedHead } from './checkpoint-key.ts';

/** The chain as a whole, at one moment. */
export interface ChainState {
  /** The chain begins after this number. */
  readonly startSeq: number;
  readonly head: ChainHead;
  /** The first event outside the numbers that were given out. */
  readonly strayRow: number | null;
  /** The last number that was signed. */
  readonly signedSeq: number | null;
}

/** An event with the checkpoint that was made after it. */
export type ChainRow = AuditRow & {
  readonly checkpoint_hash: Buffer | null;
  readonly signature: string | null;
};

interface StateRow extends ChainHead {
  readonly start_seq: number;
  readonly stray: number | null;
  readonly signed: number | null;
}

/** Undefined when the head is gone. */
export async function readChainState(sql: Sql): Promise<ChainState | undefined> {
  const { rows } = await raw<StateRow>`
    select start_seq, seq, hash,
      (select min(seq) from auth.audit where seq > head.seq or seq < 1) as stray,
      (select max(seq) from auth.audit_checkpoints) as signed
    from auth.audit_head as head
  `.execute(sql);
  const [state] = rows;
  if (!state) return undefined;
  const { start_seq: startSeq, seq, hash, stray: strayRow, signed: signedSeq } = state;
  return { startSeq, head: { seq, hash }, strayRow, signedSeq };
}

/** The next events of a stretch of the chain, with their checkpoints. */
export function pageChain(
  sql: Sql,
  page: { readonly after: number; readonly to: number; readonly limit: number },
): Promise<ChainRow[]> {
  return sql
    .selectFrom('audit')
    .leftJoin('audit_checkpoints as checkpoint', 'checkpoint.seq', 'audit.seq')
    .selectAll('audit')
    .select(['checkpoint.hash as checkpoint_hash', 'checkpoint.signature'])
    .where('audit.seq', '>', page.after)
    .where('audit.seq', '<=', page.to)
    .orderBy('audit.seq')
    .limit(page.limit)
    .execute();
}

/** Another replica may have signed the same head. */
export async function insertCheckpoint(sql: Sql, head: SignedHead): Promise<void> {
  const { seq, hash, signature } = head;
  await sql
    .insertInto('audit_checkpoints')
    .values({ seq, hash, signature })
    .onConflict((conflict) => conflict.column('seq').doNothing())
    .execute();
}

export function findLastCheckpoint(sql: Sql): Promise<SignedHead | undefined> {
  return sql
    .selectFrom('audit_checkpoints')
    .select(['seq', 'hash', 'signature'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}
