import type { Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import type { modelsContract } from '../../models/contract.ts';
import type {
  Completion,
  CompletionChunk,
  CompletionRequest,
  ProviderHealth,
} from '../contract.ts';
import type { Provider, ProviderCall, ProviderModel } from './provider.ts';

const name = 'local';
const completionTimeoutMs = 600_000;
const probeTimeoutMs = 2_000;
const listTtlMs = 1_000;
const probeTtlMs = 1_000;

/** The suite's own models service as a provider; what it answers costs nothing. */
export class LocalProvider implements Provider {
  readonly name = name;
  readonly #models: Client<typeof modelsContract>;
  #list: readonly ProviderModel[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  #probe: Promise<ProviderHealth> | undefined;
  #probedAt = 0;

  constructor(models: Client<typeof modelsContract>) {
    this.#models = models;
  }

  /** The models that can complete; asked for again after a second at the earliest. */
  async models(call?: ProviderCall): Promise<readonly ProviderModel[]> {
    if (performance.now() - this.#listedAt < listTtlMs) return this.#list;
    const { data } = await this.#models.listModels({}, call);
    const completing = data.filter(({ capabilities }) => capabilities.includes('completion'));
    this.#list = completing.map(({ id, created }) => ({ name: id, created }));
    this.#listedAt = performance.now();
    return this.#list;
  }

  async complete(request: CompletionRequest, call: ProviderCall): Promise<Completion> {
    const body = { ...request, stream: false };
    const options = { ...call, timeoutMs: completionTimeoutMs };
    const { usage, ...completion } = await this.#models.chatCompletions({ body }, options);
    return { ...completion, provider: name, usage: { ...usage, cost: 0 } };
  }

  async *stream(request: CompletionRequest, call: ProviderCall): AsyncGenerator<CompletionChunk> {
    const body = { ...request, stream: true };
    const options = { ...call, timeoutMs: completionTimeoutMs };
    let isFinished = false;
    for await (const chunk of this.#models.streams.chatCompletions({ body }, options)) {
      isFinished ||= chunk.choices.some((choice) => choice.finish_reason !== null);
      const { usage, ...rest } = chunk;
      yield { ...rest, provider: name, ...(usage ? { usage: { ...usage, cost: 0 } } : {}) };
    }
    if (!isFinished) throw new Fault('upstream', 'the local model stopped before its answer ended');
  }

  /** Asks at most once a second, however many want to know. */
  probe(): Promise<ProviderHealth> {
    if (!this.#probe || performance.now() - this.#probedAt > probeTtlMs) {
      this.#probedAt = performance.now();
      this.#probe = this.#ask();
    }
    return this.#probe;
  }

  async #ask(): Promise<ProviderHealth> {
    const startedAt = performance.now();
    try {
      const { models } = await this.#models.health({}, { timeoutMs: probeTimeoutMs });
      const latency = Math.round((performance.now() - startedAt) * 10) / 10;
      return { status: models > 0 ? 'healthy' : 'degraded', models, latency };
    } catch (error) {
      return { status: 'degraded', error: Fault.from(error).message };
    }
  }
}
