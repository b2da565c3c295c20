import type { Identity } from '../../kit/identity/identity.ts';
import { ownerOf, type Conversations } from '../conversations/conversation.ts';
import type { MessageBatches } from '../conversations/message-batches-store.ts';
import type { Caller } from '../caller.ts';
import type { AgentHealths, Orchestrations } from '../orchestrations/orchestration.ts';
import type { Search } from '../search/search.ts';
import type { Turns } from '../turns/turn.ts';
import { MessageLoader } from './message-loader.ts';
import type { RequestBudget } from './request-budget.ts';

/** What GraphQL is spoken about. */
export interface GraphqlParts {
  readonly conversations: Conversations;
  readonly messages: MessageBatches;
  readonly turns: Turns;
  readonly search: Pick<Search, 'findConversations'>;
  readonly orchestrations: Orchestrations;
  readonly agentHealths: AgentHealths;
  /** Throws the refusal of a caller who has asked models often enough. */
  readonly completions: { take(identity: Identity): void };
}

/** Who asks, by whatever transport. */
export interface Asker {
  readonly caller: Caller;
  /** Aborted when nobody waits for the answer any longer; to be asked for only where it is needed. */
  readonly signal: AbortSignal;
  /** Of the request, for what it causes. */
  readonly traceparent?: string | undefined;
}

/** What the resolvers of one operation share. */
export interface OperationContext {
  readonly parts: GraphqlParts;
  readonly asker: Asker;
  readonly ownerId: string;
  readonly loader: MessageLoader;
  /** Of the request, which may hold several operations. */
  readonly budget: RequestBudget;
}

/** The context of one operation; an HTTP request may hold several, which share its budget. */
export function contextOf(
  parts: GraphqlParts,
  asker: Asker,
  budget: RequestBudget,
): OperationContext {
  const ownerId = ownerOf(asker.caller);
  const loader = new MessageLoader({ batches: parts.messages, ownerId, budget });
  return { parts, asker, ownerId, loader, budget };
}
