import type { Kysely } from 'kysely';
import type { Page } from './contract.ts';

export interface NoteRow {
  readonly id: string;
  readonly owner_id: string;
  readonly text: string;
  readonly created_at: Date;
}

export type Sql = Kysely<{ notes: NoteRow }>;

export async function insertNote(sql: Sql, row: NoteRow): Promise<void> {
  await sql.insertInto('notes').values(row).execute();
}

export function findNote(sql: Sql, id: string): Promise<NoteRow | undefined> {
  return sql.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A page of an owner's notes, newest first, and how many there are. */
export async function listNotes(sql: Sql, ownerId: string, { limit, offset }: Page) {
  const own = sql.selectFrom('notes').where('owner_id', '=', ownerId);
  const rows = await own
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await own
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows, total };
}
