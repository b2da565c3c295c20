import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const dollars = Type.Number({ description: 'US dollars' });

const model = Type.Object(
  {
    id: Type.String({
      description:
        'what a request asks for; `<provider>/<name>` where several have one of the name',
    }),
    name: Type.String(),
    provider: Type.String(),
    context_window: Type.Integer({ description: 'tokens of prompt and answer together' }),
    max_output: Type.Integer({
      description: 'tokens of one answer; where nobody knows it, the context window',
    }),
    capabilities: Type.Array(Type.String()),
    cost_per_1k_tokens: Type.Object({ input: dollars, output: dollars }),
    is_price_unknown: Type.Optional(
      Type.Literal(true, { description: 'the costs are 0 for want of better' }),
    ),
  },
  { $id: 'ChatModel' },
);

/** The models that a chat can be with. */
export const modelRoutes = {
  listModels: {
    method: 'GET',
    url: '/api/models',
    summary: 'List the models that can be asked for',
    description: 'All models of all providers of the gateway, as it has them within seconds.',
    schema: { response: { 200: Type.Object({ models: Type.Array(model) }) } },
  },
} as const satisfies Readonly<Record<string, Route>>;
