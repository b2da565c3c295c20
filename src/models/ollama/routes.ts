import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { JsonLines } from '../../kit/answers/json-lines.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import { callerOf, type Asker } from '../inference/caller.ts';
import type { ModelInfo } from '../inference/inference.ts';
import type { Puller } from '../library/pull/puller.ts';
import type { ModelsParts } from '../parts.ts';
import { invalidField, refuseAsked } from '../unsupported.ts';
import type { Asked } from './answers.ts';
import type { ollamaRoutes } from './contract.ts';
import { embed } from './embed.ts';
import { chat, generateText, joinChat, joinTexts } from './generate.ts';
import { isOwn, toRunning, toShown, toTag } from './models.ts';

type Routes = typeof ollamaRoutes;
type OllamaHandlers = { readonly [K in keyof Routes]: Handler<Routes[K]> };

/** What Ollama's API needs of models. */
interface OllamaParts extends Pick<ModelsParts, 'inference' | 'library'> {
  readonly host: Pick<ModelsParts['host'], 'health' | 'log'>;
  readonly puller: Puller;
}

const success = { status: 'success' };

/** The HTTP edge of Ollama's API. */
export function ollamaHandlers(parts: OllamaParts): OllamaHandlers {
  return {
    ollamaBanner: () => 'Ollama is running',
    ollamaVersion: () => ({ version: parts.host.health().version }),
    ...answerHandlers(parts),
    ...modelHandlers(parts),
    ...libraryHandlers(parts),
  };
}

function answerHandlers({ inference }: OllamaParts) {
  const ask = async (name: string, call: Asker): Promise<Asked> => {
    const startedAt = performance.now();
    const model = await inference.find(name);
    return { inference, model, caller: callerOf(call), startedAt };
  };
  return {
    ollamaGenerate: async (call) => {
      const { body } = call;
      const lines = generateText(body, await ask(body.model, call));
      return body.stream === false ? joinTexts(lines) : new JsonLines(lines);
    },
    ollamaChat: async (call) => {
      const { body } = call;
      const lines = chat(body, await ask(body.model, call));
      return body.stream === false ? joinChat(lines) : new JsonLines(lines);
    },
    // Written here: a serializer that checks each of a million numbers would hold all others up.
    ollamaEmbed: async (call) =>
      new WrittenJson(await embed(call.body, { inference, caller: callerOf(call) })),
    ollamaEmbeddings: async (call) => {
      const { prompt: input, ...rest } = call.body;
      const asked = { inference, caller: callerOf(call) };
      const { embeddings } = await embed({ ...rest, input }, asked);
      return new WrittenJson({ embedding: embeddings[0] ?? [] });
    },
  } satisfies Partial<OllamaHandlers>;
}

function modelHandlers({ inference, library }: OllamaParts) {
  return {
    ollamaTags: async () => ({ models: (await inference.list()).map(toTag) }),
    ollamaPs: async () => ({ models: (await inference.running()).map(toRunning) }),
    ollamaShow: async ({ body }) => {
      const model = await inference.find(nameOf(body));
      return toShown(model, isOwn(model) ? await library.find(model.name) : undefined);
    },
  } satisfies Partial<OllamaHandlers>;
}

function libraryHandlers({ host, inference, library, puller }: OllamaParts) {
  return {
    ollamaPull: async ({ body, signal }) => {
      refuseAsked(body, ['insecure']);
      const progress = puller.pull(nameOf(body), { signal });
      if (body.stream !== false) return new JsonLines(progress);
      for await (const { status } of progress) if (status === success.status) return success;
      throw new Error('a pull ended without its last event');
    },
    ollamaDelete: async ({ body }) => {
      const model = await inference.find(nameOf(body));
      requireOwn(model);
      await library.delete(model.name);
      // Whoever asks it now may finish, and nobody waits for that.
      inference.unload(model).catch((err: unknown) => host.log.warn({ err }, 'unloading failed'));
      return success;
    },
    ollamaCopy: async ({ body }) => {
      const model = await inference.find(body.source);
      requireOwn(model);
      const { path } = await library.find(model.name);
      await library.add(path, { name: body.destination });
      return success;
    },
    ollamaCreate: () => {
      throw new Fault('unimplemented', 'models are not made here: pull one, or add a GGUF file');
    },
    ollamaPush: () => {
      throw new Fault('unimplemented', 'models are not published from here');
    },
  } satisfies Partial<OllamaHandlers>;
}

interface Named {
  readonly model?: string | null;
  readonly name?: string | null;
}

function nameOf({ model, name }: Named): string {
  const given = model ?? name;
  if (!given) throw invalidField('model', 'must be given');
  return given;
}

function requireOwn(model: ModelInfo): void {
  if (isOwn(model)) return;
  throw new Fault('conflict', `${model.name} belongs to the runtime ${model.runtime}`, {
    reason: 'model_elsewhere',
    detail: { param: 'model' },
  });
}
