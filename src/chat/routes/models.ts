import type { Handler } from '../../kit/http/call.ts';
import type { ChatModel, ModelList } from '../models/gateway-models.ts';
import type { modelRoutes } from '../schemas/models.ts';

type Routes = typeof modelRoutes;

/** The edge of the models. */
export function modelHandlers({ models }: { readonly models: ModelList }): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  return {
    listModels: async (caller) => ({ models: (await models.list(caller)).map(toAnswer) }),
  };
}

function toAnswer(model: ChatModel) {
  return {
    id: model.id,
    name: model.name,
    provider: model.provider,
    context_window: model.contextWindow,
    max_output: model.maxOutput,
    capabilities: [...model.capabilities],
    cost_per_1k_tokens: model.costPer1kTokens,
    ...(model.isPriceUnknown ? { is_price_unknown: true as const } : {}),
  };
}
