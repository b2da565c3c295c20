import { Fault } from '../../../src/kit/errors.ts';
import { newId } from '../../../src/kit/ids.ts';
import type { NewNote, Note, Page } from './contract.ts';
import { findNote, insertNote, listNotes, type NoteRow, type Sql } from './store.ts';

export async function createNote(sql: Sql, ownerId: string, { text }: NewNote): Promise<Note> {
  const row = { id: newId('note'), owner_id: ownerId, text, created_at: new Date() };
  await insertNote(sql, row);
  return toNote(row);
}

/** The note, to its owner only: to others it does not exist. */
export async function readNote(sql: Sql, ownerId: string, id: string): Promise<Note> {
  const row = await findNote(sql, id);
  if (row?.owner_id === ownerId) return toNote(row);
  throw new Fault('not_found', `there is no note ${id}`, { reason: 'note_not_found' });
}

export async function listOwnNotes(sql: Sql, ownerId: string, page: Page) {
  const { rows, total } = await listNotes(sql, ownerId, page);
  return { notes: rows.map(toNote), total, ...page };
}

function toNote({ id, text, created_at }: NoteRow): Note {
  return { id, text, createdAt: created_at.toISOString() };
}
