import type { Handler } from '../../kit/http/call.ts';
import { EventStream, type ServerEvent } from '../../kit/answers/sse.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import { callerOf, type Asker } from '../inference/caller.ts';
import type { Inference, ModelInfo } from '../inference/inference.ts';
import { toUnixSeconds } from './answers.ts';
import { completeChat, streamChat, type Asked } from './chat.ts';
import type { ModelCard, openAiRoutes } from './contract.ts';
import { embedTexts } from './embeddings.ts';
import { completeText, streamText } from './text.ts';

type OpenAiHandlers = {
  readonly [K in keyof typeof openAiRoutes]: Handler<(typeof openAiRoutes)[K]>;
};

export interface OpenAiParts {
  readonly inference: Inference;
  /** The most that a model of this machine is loaded with. */
  readonly contextTokensMax: number;
}

/** The HTTP edge of OpenAI's API. */
export function openAiHandlers({ inference, contextTokensMax }: OpenAiParts): OpenAiHandlers {
  const describe = (model: ModelInfo) => toCard(model, contextTokensMax);
  const ask = async (model: string | undefined, call: Asker): Promise<Asked> => {
    const caller = callerOf(call);
    return { inference, model: await inference.find(model, { caller }), caller };
  };
  return {
    chatCompletions: async (call) => {
      const { body } = call;
      const asked = await ask(body.model ?? undefined, call);
      if (!body.stream) return completeChat(body, asked);
      return new EventStream(toEvents(streamChat(body, asked)));
    },
    textCompletions: async (call) => {
      const { body } = call;
      const asked = await ask(body.model ?? undefined, call);
      if (!body.stream) return completeText(body, asked);
      return new EventStream(toEvents(streamText(body, asked)));
    },
    // Written here: a serializer that checks each of a million numbers would hold all others up.
    createEmbeddings: async (call) =>
      new WrittenJson(await embedTexts(call.body, { inference, caller: callerOf(call) })),
    listModels: async () => ({ object: 'list', data: (await inference.list()).map(describe) }),
    readModel: async ({ params }) => describe(await inference.find(params.model)),
  };
}

async function* toEvents(chunks: AsyncIterable<unknown>): AsyncGenerator<ServerEvent> {
  for await (const chunk of chunks) yield { data: JSON.stringify(chunk) };
  yield { data: '[DONE]' };
}

/** The context is the one that is there, which may be less than what a model was made for. */
function toCard(model: ModelInfo, contextTokensMax: number): ModelCard {
  const { name, modifiedAt, runtime, capabilities, contextTokens } = model;
  const bound = runtime === 'local' ? contextTokensMax : Infinity;
  return {
    id: name,
    object: 'model',
    created: toUnixSeconds(modifiedAt),
    owned_by: runtime,
    capabilities: [...capabilities],
    ...(contextTokens === undefined ? {} : { context_length: Math.min(contextTokens, bound) }),
  };
}
