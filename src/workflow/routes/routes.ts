import { Fault } from '../../kit/errors.ts';
import type { Handlers } from '../../kit/http/call.ts';
import type { SocketHandlers } from '../../kit/sockets/socket-handlers.ts';
import type { workflowContract } from '../contract.ts';
import { readShown, seesDrafts } from '../definitions/drafts.ts';
import { typicalMsOf } from '../definitions/flow-facts.ts';
import { statusOf } from '../engine/execution-answers.ts';
import type { WorkflowParts } from '../parts.ts';
import { actorOf } from './actor.ts';
import { batchHandlers, batchSocketHandlers } from './batches.ts';
import { collectionHandlers } from './collections.ts';
import { componentHandlers } from './components.ts';
import { executionHandlers, executionSocketHandlers } from './executions.ts';
import { flowTestHandlers } from './flow-tests.ts';
import { healthHandlers } from './health.ts';
import { interopHandlers } from './interop.ts';
import { startHandlers, type StartHandlerParts } from './starts.ts';
import { triggerHandlers, type TriggerHandlerParts } from './triggers.ts';
import { workflowHandlers } from './workflows.ts';

/** The HTTP edge of the workflows. */
export function workflowServiceHandlers(parts: WorkflowParts): Handlers<typeof workflowContract> {
  const { host, engine, approvals, batches, callbacks, triggers, components, collections } = parts;
  return {
    ...healthHandlers(parts),
    ...workflowHandlers({
      ...parts,
      onArchived: (workflowId) => triggers.disableOf(workflowId),
      log: host.log,
    }),
    ...startHandlers(startParts(parts)),
    ...flowTestHandlers(parts),
    ...executionHandlers({ engine, approvals, baseUrl: host.url }),
    ...batchHandlers({
      requireShown: (id, identity) => readShown(parts.definitions, id, actorOf(identity)),
      batches,
      callbacks,
      engine,
      monitorUrlOf: (batchId) => parts.streamUrl(`batches/${batchId}`),
    }),
    ...triggerHandlers({
      triggers,
      requireWorkflow: requireWorkflow(parts),
      hookUrlOf: (triggerId) => `${host.url}/api/v1/hooks/${triggerId}`,
    }),
    ...componentHandlers(components),
    ...collectionHandlers({ collections }),
    ...interopHandlers({ ...parts, log: host.log }),
  };
}

/** The WebSocket edge of the workflows. */
export function workflowSocketHandlers(
  parts: WorkflowParts,
): SocketHandlers<typeof workflowContract> {
  return { ...executionSocketHandlers(parts.engine), ...batchSocketHandlers(parts) };
}

function startParts(parts: WorkflowParts): StartHandlerParts {
  const { engine, definitions, catalog, callbacks, secrets, plans, times } = parts;
  return {
    start: (request) => engine.start(request),
    wait: (executionId, options) => engine.wait(executionId, options),
    requireStartable: (id, version, actor) => definitions.requireStartable(id, version, actor),
    requireShown: (id, actor) => readShown(definitions, id, actor),
    checkCallbacks: async (workflowId, given) => {
      callbacks.check(given);
      if (given.secret !== undefined) return;
      if ((await secrets.find(workflowId)) !== undefined) return;
      // Nobody could check a signature that is made with a secret which nobody can read.
      await plans.load(workflowId);
      throw new Fault('invalid', 'callbacks of a built-in workflow need a `secret`', {
        reason: 'callback_secret_required',
        detail: { param: 'options.callbacks.secret' },
      });
    },
    estimate: async (workflowId, version) => {
      const known = times.known(workflowId);
      if (known !== undefined) return known;
      const { plan } = await plans.load(workflowId, version);
      return typicalMsOf(plan);
    },
    countUse: (workflowId) => catalog.countUse(workflowId),
    toAnswer: (execution) => statusOf(engine, execution),
    monitorUrl: (executionId) => parts.streamUrl(`executions/${executionId}`),
  };
}

function requireWorkflow({ definitions }: WorkflowParts): TriggerHandlerParts['requireWorkflow'] {
  return async (workflowId, identity, access) => {
    const actor = actorOf(identity);
    if (access === 'change') {
      await definitions.requireOwn(workflowId, actor);
      return { isOwn: true };
    }
    const workflow = await readShown(definitions, workflowId, actor);
    return { isOwn: seesDrafts(workflow, actor) };
  };
}
