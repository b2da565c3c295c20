import { basename } from 'node:path';
import { EventStream, type ServerEvent } from '../kit/sse.ts';
import type { Handlers } from '../kit/http/call.ts';
import type { Host } from '../kit/service.ts';
import { completeChat, streamChat } from './chat.ts';
import type { modelsContract } from './contract.ts';
import { refuseUnsupported } from './unsupported.ts';
import type { InstalledModel, ModelLibrary } from './library.ts';
import type { Runtime } from './runtime/runtime.ts';

/** The HTTP edge of models. */
export function modelsRoutes(
  host: Host<unknown>,
  library: ModelLibrary,
  runtime: Runtime,
): Handlers<typeof modelsContract> {
  return {
    chatCompletions: async ({ body, signal }) => {
      refuseUnsupported(body);
      const model = await library.find(body.model);
      const options = { runtime, model, signal };
      if (!body.stream) return completeChat(body, options);
      return new EventStream(toEvents(streamChat(body, options)));
    },
    listModels: async () => ({ object: 'list', data: (await library.list()).map(toCard) }),
    health: async () => ({
      ...host.health(),
      models: (await library.list()).length,
      loaded: runtime.loaded().map(({ path }) => basename(path, '.gguf')),
      runtime: runtime.state,
    }),
  };
}

async function* toEvents(chunks: AsyncIterable<unknown>): AsyncGenerator<ServerEvent> {
  for await (const chunk of chunks) yield { data: JSON.stringify(chunk) };
  yield { data: '[DONE]' };
}

function toCard({ name, modifiedAt }: InstalledModel) {
  const created = Math.floor(modifiedAt.getTime() / 1000);
  return { id: name, object: 'model', created, owned_by: 'local' } as const;
}
