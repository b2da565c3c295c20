import type { Handler } from '../../kit/http/call.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import { ownerOf } from '../conversations/conversation.ts';
import { toProgress, toStarted, toSummary } from '../orchestrations/answers.ts';
import type { Orchestrations } from '../orchestrations/orchestration.ts';
import {
  orchestrationLimits,
  type orchestrationRoutes as routes,
} from '../schemas/orchestrations.ts';

type OrchestrationHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface OrchestrationHandlerParts {
  readonly orchestrations: Orchestrations;
}

/** The edge of orchestrations. */
export function orchestrationHandlers({
  orchestrations,
}: OrchestrationHandlerParts): OrchestrationHandlers {
  return {
    startOrchestration: async ({ body, identity, credential, span }) => {
      const { task, agents, context, options = {} } = body;
      const { parallel = true, timeout = orchestrationLimits.timeoutMsDefault } = options;
      const request = {
        task,
        agents,
        ...(context && { context }),
        isParallel: parallel,
        timeoutMs: timeout,
        traceparent: formatTraceparent(span.spanContext()),
      };
      return toStarted(await orchestrations.start({ identity, credential }, request));
    },
    readOrchestration: async ({ params, identity }) =>
      toProgress(await orchestrations.find(ownerOf({ identity }), params.id)),
    cancelOrchestration: async ({ params, identity }) =>
      toProgress(await orchestrations.cancel(ownerOf({ identity }), params.id)),
    listOrchestrations: async ({ query: { limit, offset }, identity }) => {
      const found = await orchestrations.list(ownerOf({ identity }), { limit, offset });
      const { total } = found;
      return { orchestrations: found.orchestrations.map(toSummary), total, limit, offset };
    },
  };
}
