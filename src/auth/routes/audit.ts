import type { Handlers } from '../../kit/http/call.ts';
import { readTime } from '../../kit/time/time-text.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import { toAuditEvent } from './answers.ts';

type AuditRoute = 'listAudit' | 'verifyAudit';

/** The edge of the audit log. */
export function auditHandlers({
  audit,
}: Pick<AuthParts, 'audit'>): Pick<Handlers<typeof authContract>, AuditRoute> {
  return {
    listAudit: async ({ query: { since, until, ...query } }) => {
      const { records, total } = await audit.list({
        ...query,
        ...(since === undefined ? {} : { since: new Date(readTime(since, 'since')) }),
        ...(until === undefined ? {} : { until: new Date(readTime(until, 'until', 'end')) }),
      });
      const { limit, offset } = query;
      return { events: records.map(toAuditEvent), total, limit, offset };
    },
    verifyAudit: async () => {
      const { head, ...verdict } = await audit.verify();
      return { ...verdict, head: { seq: head.seq, hash: head.hash.toString('hex') } };
    },
  };
}
