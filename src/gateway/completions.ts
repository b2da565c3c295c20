import { Fault } from '../kit/errors.ts';
import type { Completion, CompletionChunk, CompletionRequest } from './contract.ts';
import type { Provider, ProviderCall, ProviderModel } from './providers/provider.ts';

const automatic = 'auto-route';

/** A model and who offers it. */
export interface OfferedModel extends ProviderModel {
  readonly provider: string;
}

/** Completes chats with the provider that has the model asked for. */
export class Completions {
  readonly #providers: readonly Provider[];

  constructor(providers: readonly Provider[]) {
    this.#providers = providers;
  }

  /** The whole answer at once. */
  async complete(request: CompletionRequest, call: ProviderCall): Promise<Completion> {
    const { provider, model } = await this.#route(request, call);
    const completion = await provider.complete({ ...request, model }, call);
    const { usage } = completion;
    call.parent.setAttributes({
      'gen_ai.response.model': completion.model,
      'gen_ai.usage.input_tokens': usage.prompt_tokens,
      'gen_ai.usage.output_tokens': usage.completion_tokens,
    });
    return completion;
  }

  /** The answer in chunks, as they come. */
  async *stream(request: CompletionRequest, call: ProviderCall): AsyncGenerator<CompletionChunk> {
    const { provider, model } = await this.#route(request, call);
    for await (const chunk of provider.stream({ ...request, model }, call)) {
      if (chunk.usage) {
        call.parent.setAttributes({
          'gen_ai.usage.input_tokens': chunk.usage.prompt_tokens,
          'gen_ai.usage.output_tokens': chunk.usage.completion_tokens,
        });
      }
      yield chunk;
    }
  }

  /** Every model of every provider. */
  async models(call: ProviderCall): Promise<readonly OfferedModel[]> {
    const lists = await Promise.all(
      this.#providers.map(async (provider) => {
        const models = await provider.models(call);
        return models.map((model) => ({ ...model, provider: provider.name }));
      }),
    );
    return lists.flat();
  }

  /** One model; throws `not_found` (`model_not_found`). */
  async model(name: string, call: ProviderCall): Promise<OfferedModel> {
    const models = await this.models(call);
    const found = models.find((model) => model.name === name);
    if (!found) throw modelNotFound(name);
    return found;
  }

  async #route({ model }: CompletionRequest, call: ProviderCall) {
    const wanted = model === undefined || model === automatic ? undefined : model;
    call.parent.setAttributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model ?? automatic,
    });
    for (const provider of this.#providers) {
      const models = await provider.models(call);
      const found = wanted ? models.find(({ name }) => name === wanted) : models[0];
      if (!found) continue;
      call.parent.setAttribute('gen_ai.provider.name', provider.name);
      return { provider, model: found.name };
    }
    throw modelNotFound(wanted ?? 'to answer with');
  }
}

function modelNotFound(name: string): Fault {
  return new Fault('not_found', `there is no model ${name}`, {
    reason: 'model_not_found',
    detail: { param: 'model' },
  });
}
