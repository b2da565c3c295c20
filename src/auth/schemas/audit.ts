import { Type } from 'typebox';
import { askedTime } from '../../kit/time/asked-time.ts';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { auditEvent } from './administration.ts';

const api = '/api/v1/auth';
const administration = 'auth:admin';

const verification = Type.Object(
  {
    valid: Type.Boolean(),
    checked: Type.Integer({ description: 'how many events were found good, from the first on' }),
    brokenAt: Type.Optional(
      Type.Integer({ description: 'the number of the event at which the chain breaks' }),
    ),
    reason: Type.Optional(
      Type.String({
        description:
          '`event_missing`, `event_changed`, `event_inserted`, `history_rewritten`, `checkpoint_forged` or `head_changed`',
      }),
    ),
    head: Type.Object(
      { seq: Type.Integer(), hash: Type.String({ description: 'SHA-256 in hex' }) },
      { description: 'the last event; kept elsewhere, it proves all that came before' },
    ),
  },
  { $id: 'AuditVerification' },
);

/** The routes that read the audit log. */
export const auditRoutes = {
  listAudit: {
    method: 'GET',
    url: `${api}/audit`,
    summary: 'Read the audit log, the newest event first',
    permission: administration,
    schema: {
      query: Type.Object({
        ...pageQuery(),
        eventType: Type.Optional(
          Type.String({ maxLength: 64, description: 'only events of this type' }),
        ),
        userId: Type.Optional(
          Type.String({ maxLength: 128, description: 'only events of this user' }),
        ),
        clientId: Type.Optional(
          Type.String({ maxLength: 256, description: 'only events of this client' }),
        ),
        since: Type.Optional(askedTime),
        until: Type.Optional(askedTime),
      }),
      response: {
        200: Type.Object({
          events: Type.Array(auditEvent),
          ...pageAnswer,
        }),
      },
    },
  },
  verifyAudit: {
    method: 'GET',
    url: `${api}/audit/verify`,
    summary: 'Check that the audit log is what was written',
    description:
      'Computes the chain of hashes again and compares it with the signed checkpoints. Reads the whole log.',
    permission: administration,
    schema: { response: { 200: verification } },
  },
} as const satisfies Record<string, Route>;
