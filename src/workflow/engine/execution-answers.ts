import type { Engine, Execution, NodeRun, NodeFilter, NodePage } from './execution.ts';

/** As listings show it: `running` as long as it has not ended. */
export function toSummary(execution: Execution) {
  const { status, startedAtMs, completedAtMs, error, retryable, batch } = execution;
  const isEnded = status === 'completed' || status === 'failed' || status === 'cancelled';
  return {
    executionId: execution.id,
    workflowId: execution.workflowId,
    version: execution.version,
    status: isEnded ? status : ('running' as const),
    trigger: execution.trigger,
    startedAt: toTime(startedAtMs),
    ...(completedAtMs === undefined
      ? {}
      : {
          completedAt: toTime(completedAtMs),
          duration: Math.max(0, Math.round(completedAtMs - startedAtMs)),
        }),
    tokensUsed: execution.tokensUsed,
    cost: execution.cost,
    ...(error ? { error } : {}),
    ...(retryable === undefined ? {} : { retryable }),
    ...(batch ? { batch } : {}),
  };
}

/** What a status shows of an execution with more nodes: the newest. A flow has no more without a loop. */
const statusNodesMax = 1_000;
/** Of the outputs in one answer; one node is always there. */
const answerBytesMax = 8 * 1024 * 1024;

/** As it is asked for by its id, and as callbacks get it. */
export async function statusOf(engine: Pick<Engine, 'nodePage'>, execution: Execution) {
  const window = { limit: statusNodesMax, bytesMax: answerBytesMax };
  return toStatus(execution, await engine.nodePage(execution.id, window));
}

/** A page of its nodes, in the order of their start. */
export async function toNodeList(
  engine: Pick<Engine, 'nodePage'>,
  execution: Execution,
  { limit, offset, ...filter }: { readonly limit: number; readonly offset: number } & NodeFilter,
) {
  const window = { filter, limit, offset, bytesMax: answerBytesMax };
  const { nodes, total } = await engine.nodePage(execution.id, window);
  return { nodes: nodes.map(toNodeStatus), total, limit, offset };
}

function toStatus(execution: Execution, { nodes, total }: NodePage) {
  const { result } = execution;
  return {
    ...toSummary(execution),
    nodes: nodes.map(toNodeStatus),
    ...(total > nodes.length ? { nodesTotal: total } : {}),
    ...(result ? { result } : {}),
  };
}

/** As whoever starts it gets it at once. */
export function toStarted({ id, workflowId, startedAtMs }: Execution, baseUrl: string) {
  return {
    executionId: id,
    workflowId,
    status: 'running',
    startedAt: toTime(startedAtMs),
    monitorUrl: `${baseUrl.replace(/^http/, 'ws')}/api/v1/executions/${id}/stream`,
  };
}

function toNodeStatus(run: NodeRun) {
  const { nodeId, status, iteration, attempt, startedAtMs, wakeAtMs } = run;
  const { duration, output, error, modelUsed, tokensUsed, cost, entityCreated, detail } = run;
  return {
    nodeId,
    status,
    ...(iteration === '' ? {} : { iteration }),
    attempt,
    startedAt: toTime(startedAtMs),
    ...(duration === undefined ? {} : { duration: Math.round(duration) }),
    ...(modelUsed === undefined ? {} : { modelUsed }),
    ...(tokensUsed === undefined ? {} : { tokensUsed }),
    ...(cost === undefined ? {} : { cost }),
    ...(entityCreated ? { entityCreated } : {}),
    ...(output === undefined ? {} : { output }),
    ...(error ? { error } : {}),
    ...(wakeAtMs === undefined ? {} : { wakeAt: toTime(wakeAtMs) }),
    ...(detail ? { detail: shownDetail(run) } : {}),
  };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The link that decides is shown only while something waits for it. */
function shownDetail({ detail, status }: NodeRun): Record<string, unknown> {
  const { link, ...rest } = detail ?? {};
  return status === 'waiting' && link !== undefined ? { ...rest, link } : rest;
}
