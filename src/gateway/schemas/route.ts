import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const RankedCandidate = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  rank: Type.Integer({ description: '1 is asked first' }),
  estimatedCost: Type.Number({ description: 'US dollars, for a typical answer' }),
  quality: Type.Number({ description: '0..1' }),
  contextWindow: Type.Integer({ description: 'tokens' }),
  reasons: Type.Array(Type.String()),
});

const ExcludedTarget = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  rule: Type.String({
    description: '`context`, `capability`, `dialect`, `quality`, `circuit` or `rate-limit`',
  }),
  reason: Type.String(),
});

/** The answer of `POST /api/v1/route`. */
export const RoutingDecision = Type.Object(
  {
    model: Type.String({ description: 'of the first candidate' }),
    provider: Type.String({ description: 'of the first candidate' }),
    strategy: Type.Enum(['cost', 'performance', 'quality']),
    taskType: Type.Enum(['chat', 'code', 'summarization']),
    taskRule: Type.String({ description: 'what told the task type' }),
    estimatedInputTokens: Type.Integer(),
    candidates: Type.Array(RankedCandidate),
    excluded: Type.Array(ExcludedTarget),
  },
  { $id: 'RoutingDecision' },
);

/** The route that explains where a request would go. */
export const routeRoutes = {
  route: {
    method: 'POST',
    url: '/api/v1/route',
    summary: 'Say where a chat completion would go, and why, without asking anybody',
    description: 'Takes the body of a chat completion.',
    bodyBytesMax: 8 * 1024 * 1024,
    schema: {
      body: Type.Object({}, { additionalProperties: true }),
      response: { 200: RoutingDecision },
    },
  },
} as const satisfies Record<string, Route>;
