import type { Call, Handlers } from '../kit/http/call.ts';
import type { Host } from '../kit/service.ts';
import { EventStream, type ServerEvent } from '../kit/sse.ts';
import type { Completions, OfferedModel } from './completions.ts';
import type { CompletionChunk, gatewayContract } from './contract.ts';
import type { Provider, ProviderCall } from './providers/provider.ts';

/** The HTTP edge of the gateway. */
export function gatewayRoutes(
  host: Host<unknown>,
  completions: Completions,
  providers: readonly Provider[],
): Handlers<typeof gatewayContract> {
  return {
    completions: async ({ body, span, signal }) => {
      const call = callOf({ span, signal });
      if (!body.stream) return completions.complete(body, call);
      return new EventStream(toEvents(completions.stream(body, call)));
    },
    listModels: async (call) => {
      const models = await completions.models(callOf(call));
      return { object: 'list', data: models.map(toModel) };
    },
    readModel: async (call) => toModel(await completions.model(call.params.model, callOf(call))),
    health: async () => {
      const probes = await Promise.all(
        providers.map(async (provider) => [provider.name, await provider.probe()] as const),
      );
      const isHealthy = probes.some(([, { status }]) => status === 'healthy');
      return {
        ...host.health(),
        status: isHealthy ? 'healthy' : 'degraded',
        providers: Object.fromEntries(probes),
      };
    },
  };
}

async function* toEvents(chunks: AsyncIterable<CompletionChunk>): AsyncGenerator<ServerEvent> {
  for await (const chunk of chunks) yield { data: JSON.stringify(chunk) };
  yield { data: '[DONE]' };
}

function callOf({ span, signal }: Pick<Call, 'span' | 'signal'>): ProviderCall {
  return { parent: span, signal };
}

function toModel({ name, created, provider }: OfferedModel) {
  return { id: name, object: 'model', created, owned_by: provider } as const;
}
