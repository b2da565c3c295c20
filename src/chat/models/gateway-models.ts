import { gatewayContract } from '../../gateway/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { CallerCache } from '../caller-cache.ts';
import type { CallerClients } from '../caller-clients.ts';
import type { Caller } from '../caller.ts';

/** A model as the interface lists it. */
export interface ChatModel {
  /** What a request asks for. */
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly contextWindow: number;
  readonly maxOutput: number;
  readonly capabilities: readonly string[];
  /** US dollars for a thousand tokens. */
  readonly costPer1kTokens: { readonly input: number; readonly output: number };
  readonly isPriceUnknown: boolean;
}

export interface ModelList {
  /** Fault `unavailable` when the gateway is away. */
  list(caller: Caller): Promise<readonly ChatModel[]>;
}

const keptMs = 5_000;
const modelsKeptMax = 200_000;
const timeoutMs = 10_000;

/** The gateway's models, as it tells them to the caller. */
export class GatewayModels implements ModelList {
  readonly #clients: CallerClients;
  readonly #lists = new CallerCache<readonly ChatModel[]>({
    keptMs,
    sizeMax: modelsKeptMax,
    sizeOf: ({ length }) => length + 1,
  });

  constructor(clients: CallerClients) {
    this.#clients = clients;
  }

  list(caller: Caller): Promise<readonly ChatModel[]> {
    return this.#lists.get(caller, () => this.#read(caller));
  }

  async #read(caller: Caller): Promise<readonly ChatModel[]> {
    const gateway = this.#clients(gatewayContract, caller);
    const { providers } = await gateway.listProviders({}, { timeoutMs });
    return toModels(providers);
  }
}

type Provider = AnswerOf<typeof gatewayContract.routes.listProviders>['providers'][number];

/** A name that several providers have says the provider too, so that it is one model. */
function toModels(providers: readonly Provider[]): ChatModel[] {
  const counts = new Map<string, number>();
  const all = providers.flatMap(({ name, models }) =>
    models.map((model) => ({ provider: name, model })),
  );
  for (const { model } of all) counts.set(model.name, (counts.get(model.name) ?? 0) + 1);
  return all.map(({ provider, model }) => ({
    id: counts.get(model.name) === 1 ? model.name : `${provider}/${model.name}`,
    name: model.name,
    provider,
    contextWindow: model.contextWindow,
    maxOutput: Math.min(model.maxOutput ?? model.contextWindow, model.contextWindow),
    capabilities: model.capabilities,
    costPer1kTokens: {
      input: thousandth(model.inputCostPerMToken),
      output: thousandth(model.outputCostPerMToken),
    },
    isPriceUnknown: model.isPriceUnknown === true,
  }));
}

/** Without the dust of binary fractions. */
function thousandth(dollars: number): number {
  return Number((dollars / 1000).toPrecision(12));
}
