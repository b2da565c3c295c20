import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { subject } from './spend.ts';

const budgetsPath = '/api/v1/budgets';
const configuration = 'gateway:configure';

const timestamp = Type.String({ format: 'date-time' });
const unit = Type.Enum(['requests', 'tokens', 'dollars'], {
  description: 'tokens are those of prompts and answers together; dollars are US dollars',
});
const period = Type.Enum(['day', 'month'], { description: 'of the calendar, in UTC' });

const newBudget = Type.Object(
  {
    limits: Type.Array(
      Type.Object({ unit, amount: Type.Number({ minimum: 0, maximum: 1e12 }), period }),
      { minItems: 1, maxItems: 6, description: 'all of them hold; each unit once for a period' },
    ),
  },
  { $id: 'NewBudget' },
);

const budget = Type.Object(
  {
    subject: Type.String(),
    limits: Type.Array(
      Type.Object({
        unit,
        amount: Type.Number(),
        period,
        used: Type.Number({ description: 'since the period began' }),
        reserved: Type.Number({ description: 'held for requests on their way' }),
        resetsAt: timestamp,
      }),
    ),
    updatedAt: timestamp,
  },
  { $id: 'Budget' },
);

const subjectParams = Type.Object({ subject });

/** The routes that limit what may be spent. */
export const budgetRoutes = {
  listBudgets: {
    method: 'GET',
    url: budgetsPath,
    summary: 'List the budgets',
    permission: configuration,
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          budgets: Type.Array(budget),
          ...pageAnswer,
        }),
      },
    },
  },
  readOwnBudget: {
    method: 'GET',
    url: `${budgetsPath}/me`,
    summary: 'Read your own budget and what is left of it',
    schema: { response: { 200: budget } },
  },
  readBudget: {
    method: 'GET',
    url: `${budgetsPath}/:subject`,
    summary: 'Read the budget of a user or of an API key’s service',
    description: `Others' budgets need \`${configuration}\`.`,
    schema: { params: subjectParams, response: { 200: budget } },
  },
  putBudget: {
    method: 'PUT',
    url: `${budgetsPath}/:subject`,
    summary: 'Limit what a user or an API key’s service may take',
    description:
      'Replaces the budget there was (200; 201 when there was none); what was used in the period counts. A request that does not fit is refused with 429 and the code `budget_exceeded`. While the database is away, those who have a budget are refused with 503. A single request may overrun its estimate; the next one that needs any of it is then refused.',
    permission: configuration,
    schema: {
      params: subjectParams,
      body: newBudget,
      response: { 200: budget, 201: budget },
    },
  },
  deleteBudget: {
    method: 'DELETE',
    url: `${budgetsPath}/:subject`,
    summary: 'Let a user or an API key’s service spend without a limit',
    permission: configuration,
    schema: {
      params: subjectParams,
      response: { 200: Type.Object({ subject: Type.String(), deleted: Type.Boolean() }) },
    },
  },
} as const satisfies Record<string, Route>;
