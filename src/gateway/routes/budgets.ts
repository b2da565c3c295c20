import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Log } from '../../kit/log.ts';
import { requirePermission } from '../../kit/permissions.ts';
import type { Budget } from '../money/budget-store.ts';
import type { Budgets } from '../money/budgets.ts';
import type { budgetRoutes as routes } from '../schemas/budgets.ts';

type BudgetHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface BudgetParts {
  readonly budgets: Budgets;
  readonly log: Log;
}

/** The edge of the budgets. */
export function budgetHandlers({ budgets, log }: BudgetParts): BudgetHandlers {
  const record = (change: string, subject: string, { subject: by }: Identity) =>
    log.info({ subject, by }, `a budget was ${change}`);
  return {
    listBudgets: async ({ query }) => {
      const { budgets: rows, total } = await budgets.list(query);
      return { budgets: rows.map(toAnswer), total, limit: query.limit, offset: query.offset };
    },
    readOwnBudget: async ({ identity }) => toAnswer(await budgets.read(identity.subject)),
    readBudget: async ({ params: { subject }, identity }) => {
      if (subject !== identity.subject) {
        requirePermission(identity.permissions, 'gateway:configure');
      }
      return toAnswer(await budgets.read(subject));
    },
    putBudget: async (call) => {
      const { params, body, identity } = call;
      const subject = subjectOf(params, identity);
      const { budget, isNew } = await budgets.put(subject, body.limits);
      record('put', subject, identity);
      if (isNew) call.setStatus(201);
      return toAnswer(budget);
    },
    deleteBudget: async ({ params, identity }) => {
      const subject = subjectOf(params, identity);
      await budgets.delete(subject);
      record('deleted', subject, identity);
      return { subject, deleted: true };
    },
  };
}

/** `me` is whoever asks, as it is for reading. */
function subjectOf({ subject }: { readonly subject: string }, identity: Identity): string {
  return subject === 'me' ? identity.subject : subject;
}

function toAnswer({ subject, limits, updatedAt }: Budget) {
  return {
    subject,
    limits: limits.map(({ endsAt, ...limit }) => ({ ...limit, resetsAt: endsAt.toISOString() })),
    updatedAt: updatedAt.toISOString(),
  };
}
