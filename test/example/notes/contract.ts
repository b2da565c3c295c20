import { Type, type Static } from 'typebox';
import { healthRoute, type Contract } from '../../../src/kit/contract.ts';
import { plainEnvelope } from '../../../src/kit/envelope.ts';

export const Note = Type.Object(
  { id: Type.String(), text: Type.String(), createdAt: Type.String({ format: 'date-time' }) },
  { $id: 'Note' },
);
export type Note = Static<typeof Note>;

export const NewNote = Type.Object({ text: Type.String({ minLength: 1, maxLength: 4000 }) });
export type NewNote = Static<typeof NewNote>;

const Page = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
});
export type Page = Static<typeof Page>;

/** What others may know of notes. */
export const notesContract = {
  name: 'notes',
  title: 'Notes',
  version: '1.0.0',
  description: 'Notes that their owner alone can read.',
  error: plainEnvelope.schema,
  routes: {
    create: {
      method: 'POST',
      url: '/api/v1/notes',
      summary: 'Create a note',
      permission: 'notes:write',
      schema: { body: NewNote, response: { 201: Note } },
    },
    read: {
      method: 'GET',
      url: '/api/v1/notes/:id',
      summary: 'Read a note',
      permission: ['notes:read', 'notes:write'],
      schema: { params: Type.Object({ id: Type.String() }), response: { 200: Note } },
    },
    list: {
      method: 'GET',
      url: '/api/v1/notes',
      summary: 'List notes, newest first',
      permission: ['notes:read', 'notes:write'],
      schema: {
        query: Page,
        response: {
          200: Type.Object({ notes: Type.Array(Note), total: Type.Integer(), ...Page.properties }),
        },
      },
    },
    health: healthRoute('/api/v1/health', {}),
  },
} as const satisfies Contract;
