import { plainEnvelope } from '../../../src/kit/envelope.ts';
import type { Service } from '../../../src/kit/service.ts';
import { notesContract } from './contract.ts';
import { notesRoutes } from './routes.ts';
import type { NoteRow } from './store.ts';

/** Notes keeps short texts for their owners. */
export const notes = {
  contract: notesContract,
  envelope: plainEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: {},
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  start: async (host) => {
    const sql = host.database.kysely<{ notes: NoteRow }>('notes');
    host.http.serve(notesContract, notesRoutes(host, sql));
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof notesContract>;
