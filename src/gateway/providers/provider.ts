import type { Span } from '../../kit/trace.ts';
import type {
  Completion,
  CompletionChunk,
  CompletionRequest,
  ProviderHealth,
} from '../contract.ts';

/** A model that a provider offers. */
export interface ProviderModel {
  readonly name: string;
  /** Unix seconds. */
  readonly created: number;
}

/** What goes with a request to a provider. */
export interface ProviderCall {
  /** The span below which the provider's own is recorded. */
  readonly parent: Span;
  readonly signal: AbortSignal;
}

/** Somewhere that completes chats. Faults: `not_found`, `invalid`, `exhausted`, `upstream`, `unavailable`, `deadline`. */
export interface Provider {
  readonly name: string;
  models(call?: ProviderCall): Promise<readonly ProviderModel[]>;
  complete(request: CompletionRequest, call: ProviderCall): Promise<Completion>;
  stream(request: CompletionRequest, call: ProviderCall): AsyncIterable<CompletionChunk>;
  /** How the provider is, as asked within the last second; never rejects. */
  probe(): Promise<ProviderHealth>;
}
