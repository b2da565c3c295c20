import type { ChatRequest, Message } from '../conversation/request.ts';
import type { Standing, Standings } from '../measure/standing.ts';
import { ProviderIndex } from '../providers/provider-index.ts';
import { targetId, type Model, type Provider } from '../providers/provider.ts';

/** A model that can do all, at the given price, for tests. */
export function fakeModel(name: string, changes: Partial<Model> = {}): Model {
  return {
    name,
    capabilities: new Set(['chat', 'code', 'summarization', 'tools', 'json', 'vision']),
    prices: { input: 1, output: 1 },
    quality: 0.5,
    contextWindow: 100_000,
    createdAt: 0,
    ...changes,
  };
}

/** A provider of those models. */
export function fakeProvider(
  name: string,
  models: readonly Model[],
  changes: Partial<Provider> = {},
): Provider {
  return {
    name,
    dialect: 'openai',
    baseUrl: `http://${name}.test/v1`,
    keys: [],
    models: new Map(models.map((model) => [model.name, model])),
    weight: 1,
    priority: 0,
    timeouts: { firstTokenMs: 1000, idleMs: 1000, totalMs: 1000 },
    origin: 'api',
    headers: {},
    ...changes,
  };
}

/** A list of providers that can be replaced while it is in use. */
export class FakeProviders {
  #index: ProviderIndex;

  constructor(providers: readonly Provider[]) {
    this.#index = new ProviderIndex(providers);
  }

  replace(providers: readonly Provider[]): void {
    this.#index = new ProviderIndex(providers);
  }

  all() {
    return this.#index.all();
  }

  find(name: string) {
    return this.#index.find(name);
  }

  targetsOf(model: string) {
    return this.#index.targetsOf(model);
  }
}

const idle: Standing = {
  inFlight: 0,
  firstTokenMs: undefined,
  tokensPerSecond: undefined,
  latencyMs: undefined,
  availability: 1,
  recentAttempts: 0,
  requestsPerMinute: 0,
  circuit: 'closed',
  waitMs: 0,
  closedBecause: undefined,
  lastFailure: undefined,
};

/** Everybody idle and never measured, but for what is said of a target. */
export function fakeStandings(known: Readonly<Record<string, Partial<Standing>>> = {}): Standings {
  return { of: (target) => ({ ...idle, ...known[targetId(target)] }) };
}

/** A chat with one message of the user. */
export function fakeRequest(text: string, changes: Partial<ChatRequest> = {}): ChatRequest {
  const message: Message = { role: 'user', parts: [{ type: 'text', text }] };
  return {
    model: 'auto-route',
    messages: [message],
    tools: [],
    isStream: false,
    extras: {},
    ...changes,
  };
}
