import type { AgentProgress } from '../orchestrations/orchestration.ts';
import { refuseNul } from './arguments.ts';
import type { OperationContext } from './context.ts';
import { Feed } from './feed.ts';
import { openMessageStream, type StreamToken } from './message-stream.ts';

interface StreamArguments {
  readonly conversationId: string;
  readonly after?: string | null;
}

const progressQueuedMax = 1_000;

/** The root fields that go on answering. */
export const subscriptions = {
  messageStream: {
    subscribe: async (_root: unknown, args: StreamArguments, context: OperationContext) => {
      refuseNul(args);
      return await openMessageStream(context, args);
    },
    resolve: (token: StreamToken) => token,
  },
  agentProgress: {
    subscribe: async (
      _root: unknown,
      args: { readonly agentId: string },
      context: OperationContext,
    ) => {
      refuseNul(args);
      return await openAgentProgress(context, args.agentId);
    },
    resolve: (progress: AgentProgress) => progress,
  },
};

/** Rejects as the mesh does for whoever may not see the agent, and where there is none. */
async function openAgentProgress(
  { parts, asker, ownerId }: OperationContext,
  agentId: string,
): Promise<Feed<AgentProgress>> {
  const { caller, signal } = asker;
  await parts.agentHealths.find(caller, agentId);
  const stopListening = parts.orchestrations.listen((progress) => {
    const isForReader = progress.ownerId === undefined || progress.ownerId === ownerId;
    if (progress.agentId === agentId && isForReader) feed.push(progress);
  });
  const feed = new Feed<AgentProgress>({
    queuedMax: progressQueuedMax,
    signal,
    onClose: stopListening,
  });
  return feed;
}
