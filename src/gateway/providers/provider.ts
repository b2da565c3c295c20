import type { Prices } from '../../kit/prices/prices.ts';
import type { DialectName } from '../dialects/dialect.ts';

/** What a model can do, by the names that the interface uses. */
export const capabilityNames = [
  'chat',
  'code',
  'summarization',
  'vision',
  'tools',
  'json',
  'reasoning',
  'embedding',
  'image',
] as const;
export type Capability = (typeof capabilityNames)[number];

/** A model as a provider offers it. */
export interface Model {
  readonly name: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly prices: Prices;
  /** 0..1, from our table or the operator. */
  readonly quality: number;
  /** Tokens of prompt and answer together. */
  readonly contextWindow: number;
  /** Tokens of one answer, where it is known. */
  readonly maxOutput?: number | undefined;
  /** Unix seconds; 0 when unknown. */
  readonly createdAt: number;
  /** Neither an operator nor our tables know what it can do: it may well do more. */
  readonly areCapabilitiesAssumed?: boolean | undefined;
  /** Asked only by who names it, never chosen by the gateway. */
  readonly isOnlyByName?: boolean | undefined;
  /** Nobody knows what it costs: `prices` are 0 for want of better. */
  readonly isPriceUnknown?: boolean | undefined;
  /** Of its file, where the provider runs here. */
  readonly sizeBytes?: number | undefined;
}

export interface Timeouts {
  /** From the request to the first piece of the answer. */
  readonly firstTokenMs: number;
  /** Between two pieces. */
  readonly idleMs: number;
  /** For everything together. */
  readonly totalMs: number;
}

/** Where a provider takes less than others of its dialect; absent: as much as the dialect has words for. */
export interface ProviderLimits {
  /** Stop sequences of a chat. */
  readonly stopsMax?: number;
  /** Texts of one call for embeddings. */
  readonly embeddingInputsMax?: number;
  /** Ids of tool calls are refused unless they have just so many letters and digits. */
  readonly callIdLength?: number;
}

/** A provider as it is configured; replaced as a whole, never changed. */
export interface Provider {
  /** Lower case; names the provider in answers, metrics and addresses. */
  readonly name: string;
  readonly dialect: DialectName;
  /** With the version part, without a slash at the end. */
  readonly baseUrl: string;
  /** Used in turn; empty: none is sent. */
  readonly keys: readonly ProviderKey[];
  readonly models: ReadonlyMap<string, Model>;
  /** Share of the traffic among equals; 1 by default. */
  readonly weight: number;
  /** Lower goes first; 0 by default. */
  readonly priority: number;
  readonly requestsPerMinute?: number | undefined;
  readonly timeouts: Timeouts;
  readonly limits?: ProviderLimits | undefined;
  /** Where it was configured. */
  readonly origin: 'local' | 'environment' | 'file' | 'api';
  /** Headers that this provider wants besides, such as an API version. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A key of a provider. Its value never leaves the process but to the provider. */
export interface ProviderKey {
  /** Tells keys apart in measurements: the start of a hash, never a part of the key. */
  readonly id: string;
  /** The key now: the suite's own tokens change. */
  reveal(): string | Promise<string>;
  /** Called when the provider did not accept it. */
  refused?(): void;
}

/** A model at a provider: what a request can be sent to. */
export interface Target {
  readonly provider: Provider;
  readonly model: Model;
}

/** The providers there are now. */
export interface ProviderList {
  all(): readonly Provider[];
  find(name: string): Provider | undefined;
  /** Every target of a model: of all who offer that name, or of one as `<provider>/<name>`. */
  targetsOf(model: string): readonly Target[];
}

/** How a target is called in measurements: `<provider>/<model>`. */
export function targetId({ provider, model }: Target): string {
  return `${provider.name}/${model.name}`;
}
