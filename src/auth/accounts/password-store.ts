import type { Sql } from '../tables.ts';

/** Replaces a password's hash, unless the password was changed meanwhile. */
export async function replacePasswordHash(
  sql: Sql,
  change: { readonly id: string; readonly old: string; readonly new: string },
): Promise<void> {
  await sql
    .updateTable('users')
    .set({ password_hash: change.new })
    .where('id', '=', change.id)
    .where('password_hash', '=', change.old)
    .execute();
}
