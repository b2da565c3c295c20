import type { Handlers } from '../../../src/kit/http/call.ts';
import type { Host } from '../../../src/kit/service.ts';
import type { notesContract } from './contract.ts';
import { createNote, listOwnNotes, readNote } from './notes.ts';
import type { Sql } from './store.ts';

/** The HTTP edge of notes: one line a route. */
export function notesRoutes(host: Host<unknown>, sql: Sql): Handlers<typeof notesContract> {
  return {
    create: ({ identity, body }) => createNote(sql, identity.subject, body),
    read: ({ identity, params }) => readNote(sql, identity.subject, params.id),
    list: ({ identity, query }) => listOwnNotes(sql, identity.subject, query),
    health: () => host.health(),
  };
}
