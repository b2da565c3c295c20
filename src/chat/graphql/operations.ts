import { requirePermission } from '../../kit/permissions.ts';
import type { Conversation, Message } from '../conversations/conversation.ts';
import type { AgentHealth, Orchestration } from '../orchestrations/orchestration.ts';
import { orchestrationLimits } from '../schemas/orchestrations.ts';
import { queryLengthMax } from '../schemas/search.ts';
import type { ConversationHit } from '../search/search.ts';
import { stopAnswer } from '../turns/stop-answer.ts';
import {
  invalid,
  modelOf,
  notEmpty,
  notLonger,
  notNegative,
  pageLimit,
  refuseNul,
  titleOf,
} from './arguments.ts';
import type { OperationContext } from './context.ts';
import { jsonBytes } from '../json-size.ts';
import { sendMessage, type MessageInput } from './send-message.ts';

type Operation<Args, Value> = (
  root: unknown,
  args: Args,
  context: OperationContext,
) => Promise<Value>;

interface OrchestrationInput {
  readonly task: string;
  readonly agents: readonly string[];
  readonly context?: unknown;
  readonly parallel?: boolean | null;
  readonly timeout?: number | null;
}

/** Rows in one page of conversations, and messages of one search. */
const pageBounds = { usual: 20, most: 100 };
const hitBounds = { usual: 10, most: 100 };

const queries = {
  conversations: checked(
    async (
      args: { readonly limit?: number | null; readonly offset?: number | null },
      { parts, ownerId, budget },
    ): Promise<readonly Conversation[]> => {
      const limit = pageLimit(args.limit, pageBounds);
      const offset = notNegative('offset', args.offset);
      budget.spendRows(limit);
      return (await parts.conversations.list(ownerId, { limit, offset })).conversations;
    },
  ),
  conversation: checked(
    async ({ id }: { readonly id: string }, { parts, ownerId, budget }): Promise<Conversation> => {
      budget.spendRows(1);
      return await parts.conversations.find(ownerId, id);
    },
  ),
  searchConversations: checked(
    async (
      args: {
        readonly query: string;
        readonly limit?: number | null;
        readonly minScore?: number | null;
      },
      { parts, ownerId, budget, asker },
    ): Promise<readonly ConversationHit[]> => {
      const { query, minScore } = args;
      if (query === '') throw invalid('query', 'must not be empty');
      notLonger('query', query, queryLengthMax);
      if (minScore != null && !(minScore >= 0 && minScore <= 1))
        throw invalid('minScore', 'must be from 0 to 1');
      const limit = pageLimit(args.limit, hitBounds);
      budget.spendRows(limit);
      budget.spendSearch();
      const { signal } = asker;
      const request = { query, limit, signal, ...(minScore == null ? {} : { minScore }) };
      return await parts.search.findConversations(ownerId, request);
    },
  ),
  agentHealth: checked(
    async (
      { agentId }: { readonly agentId: string },
      { parts, asker: { caller } },
    ): Promise<AgentHealth> => parts.agentHealths.find(caller, agentId),
  ),
  orchestration: checked(
    async ({ id }: { readonly id: string }, { parts, ownerId, budget }): Promise<Orchestration> =>
      // How much there is of results is not known before.
      budget.read(async (bytesLeft) => {
        const value = await parts.orchestrations.find(ownerId, id);
        return { value, bytes: jsonBytes(value.steps, bytesLeft) };
      }),
  ),
};

const mutations = {
  sendMessage: checked(
    async ({ input }: { readonly input: MessageInput }, context): Promise<Message> =>
      sendMessage(context, input),
  ),
  createConversation: checked(
    async (
      { title, model }: { readonly title?: string | null; readonly model?: string | null },
      { parts, ownerId },
    ): Promise<Conversation> =>
      parts.conversations.create(ownerId, {
        ...(title == null ? {} : { title: titleOf(title) }),
        ...(model == null ? {} : { model: modelOf(model) }),
      }),
  ),
  renameConversation: checked(
    async (
      { id, title }: { readonly id: string; readonly title: string },
      { parts, ownerId },
    ): Promise<Conversation> => parts.conversations.change(ownerId, id, { title: titleOf(title) }),
  ),
  deleteConversation: checked(
    async ({ id }: { readonly id: string }, { parts, ownerId }): Promise<boolean> => {
      await parts.conversations.remove(ownerId, id);
      return true;
    },
  ),
  stop: checked(
    async (
      { conversationId }: { readonly conversationId: string },
      { parts, ownerId },
    ): Promise<boolean> => {
      return await stopAnswer(parts, ownerId, { conversationId });
    },
  ),
  orchestrate: checked(
    async (
      { input }: { readonly input: OrchestrationInput },
      { parts, asker: { caller } },
    ): Promise<Orchestration> => {
      requirePermission(caller.identity.permissions, ['agent:execute', 'mesh:communicate']);
      return await parts.orchestrations.start(caller, {
        task: notLonger('task', notEmpty('task', input.task), orchestrationLimits.taskLengthMax),
        agents: agentsOf(input),
        isParallel: input.parallel ?? true,
        timeoutMs: timeoutOf(input),
        ...(input.context == null ? {} : { context: objectOf(input.context) }),
      });
    },
  ),
};

/** The root fields that answer once. */
export const operations = { Query: queries, Mutation: mutations };

/** Looks at the arguments before anything is done with them. */
function checked<Args extends object, Value>(
  work: (args: Args, context: OperationContext) => Promise<Value>,
): Operation<Args, Value> {
  return async (_root, args, context) => {
    refuseNul(args);
    return await work(args, context);
  };
}

function agentsOf({ agents }: OrchestrationInput): readonly string[] {
  const { agentsMax, agentLengthMax } = orchestrationLimits;
  if (agents.length < 1 || agents.length > agentsMax) {
    throw invalid('agents', `must be 1 to ${agentsMax}`);
  }
  return agents.map((agent) => notLonger('agents', notEmpty('agents', agent), agentLengthMax));
}

function timeoutOf({ timeout }: OrchestrationInput): number {
  const { timeoutMsDefault, timeoutMsMax } = orchestrationLimits;
  const timeoutMs = timeout ?? timeoutMsDefault;
  if (timeoutMs >= 1 && timeoutMs <= timeoutMsMax) return timeoutMs;
  throw invalid('timeout', `must be from 1 to ${timeoutMsMax}`);
}

function objectOf(context: unknown): Readonly<Record<string, unknown>> {
  if (typeof context === 'object' && context !== null && !Array.isArray(context)) {
    // Checked in this line.
    return context as Readonly<Record<string, unknown>>;
  }
  throw invalid('context', 'must be an object');
}
