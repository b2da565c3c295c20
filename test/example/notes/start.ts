import type { Host } from '../../../src/kit/service.ts';
import { notesContract } from './contract.ts';
import { notesRoutes } from './routes.ts';
import type { NoteRow } from './store.ts';

export async function start(host: Host<unknown>): Promise<AsyncDisposable> {
  const sql = host.database.kysely<{ notes: NoteRow }>('notes');
  host.http.serve(notesContract, notesRoutes(host, sql));
  return { [Symbol.asyncDispose]: async () => {} };
}
