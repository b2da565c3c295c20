import type { Handlers } from '../kit/http/call.ts';
import type { McpEndpoint } from '../kit/mcp/endpoint.ts';
import type { modelsContract } from './contract.ts';
import { inBoxEmbedderName } from './embedding/static-embedder.ts';
import { ollamaHandlers } from './ollama/routes.ts';
import { openAiHandlers } from './openai/routes.ts';
import type { ModelsParts } from './parts.ts';
import { toolHandlers } from './tools/routes.ts';

/** The HTTP edge of models. */
export function modelsHandlers(
  parts: ModelsParts,
  mcp: McpEndpoint,
): Handlers<typeof modelsContract> {
  const { host, library, local, runtime } = parts;
  return {
    ...toolHandlers(parts, mcp),
    ...ollamaHandlers(parts),
    ...openAiHandlers({ ...parts, contextTokensMax: host.config.contextTokensMax }),
    // Of this machine alone: an external runtime that hangs must not hold up the answer.
    health: async () => {
      const [installed, models] = await Promise.all([library.list(), local.list()]);
      const loaded = new Set(runtime.loaded().map(({ path }) => path));
      return {
        ...host.health(),
        models: models.length,
        loaded: installed.filter(({ path }) => loaded.has(path)).map(({ name }) => name),
        runtime: runtime.state,
        embedder: inBoxEmbedderName,
      };
    },
  };
}
