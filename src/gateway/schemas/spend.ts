import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

const spendPath = '/api/v1/spend';

/** Who pays: the subject of a token. */
export const subject = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'the subject of a token: the id of a user or of an API key’s service',
});

const subjectFilter = Type.Optional(subject);

const tokens = {
  inputTokens: Type.Integer({ description: 'prompts' }),
  cachedInputTokens: Type.Integer({
    description: "of the prompts, read from the provider's own cache",
  }),
  outputTokens: Type.Integer({ description: 'answers' }),
};

const totals = {
  requests: Type.Integer(),
  cachedRequests: Type.Integer({
    description: 'of the requests, answered from the cache: they took no tokens and cost nothing',
  }),
  ...tokens,
  dollars: Type.Number({ description: 'US dollars' }),
};

const day = Type.String({ format: 'date', description: 'a day in UTC, `2026-11-21`' });

const spendReport = Type.Object(
  {
    spend: Type.Array(
      Type.Object({
        group: Type.String({ description: 'the subject, model, provider or day' }),
        name: Type.Optional(Type.String({ description: 'of a subject' })),
        ...totals,
      }),
    ),
    totals: Type.Object(totals, { description: 'of all groups, also those on other pages' }),
    from: day,
    to: day,
    groupBy: Type.String(),
    ...pageAnswer,
    total: Type.Integer({ description: 'how many groups there are' }),
  },
  { $id: 'SpendReport' },
);

const scope = 'Your own; with `gateway:configure` that of all, or of one `subject`.';

/** The routes that say what was spent. */
export const spendRoutes = {
  readSpend: {
    method: 'GET',
    url: spendPath,
    summary: 'Add up what was spent',
    description: `${scope} The dearest group first; days the newest first.`,
    schema: {
      query: Type.Object({
        ...pageQuery(),
        from: Type.Optional(day),
        to: Type.Optional(day),
        groupBy: Type.Enum(['key', 'model', 'provider', 'day'], {
          default: 'day',
          description: '`key`: by the user or the API key’s service that paid',
        }),
        subject: subjectFilter,
      }),
      response: { 200: spendReport },
    },
  },
} as const satisfies Record<string, Route>;
