import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows, requirePermission } from '../../kit/permissions.ts';
import type { Ledger } from '../money/ledger.ts';
import type { SpendSum } from '../money/spend-store.ts';
import type { spendRoutes as routes } from '../schemas/spend.ts';

type SpendHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

const configuration = 'gateway:configure';

/** The edge of the ledger. */
export function spendHandlers({ ledger }: { readonly ledger: Ledger }): SpendHandlers {
  return {
    readSpend: async ({ query, identity }) => {
      const { groupBy, limit, offset } = query;
      const today = new Date().toISOString().slice(0, 10);
      const { to = today } = query;
      const { from = firstOfMonth(to) } = query;
      if (from > to) {
        const detail = { param: 'from' };
        throw new Fault('invalid', `from ${from} is later than to ${to}`, { detail });
      }
      const subject = subjectOf(query.subject, identity);
      const span = { from, to, groupBy, limit, offset };
      const { spend, totals, total } = await ledger.report({ ...span, subject });
      return { spend: spend.map(toSum), totals, ...span, total };
    },
  };
}

/** Whose spends may be seen; undefined: all. Throws `forbidden` for those of somebody else. */
function subjectOf(asked: string | undefined, { subject, permissions }: Identity) {
  if (asked !== undefined && asked !== subject) requirePermission(permissions, configuration);
  return asked ?? (allows(permissions, configuration) ? undefined : subject);
}

function firstOfMonth(day: string): string {
  return `${day.slice(0, 8)}01`;
}

function toSum({ name, ...sum }: SpendSum) {
  return { ...sum, ...(name === undefined ? {} : { name }) };
}
