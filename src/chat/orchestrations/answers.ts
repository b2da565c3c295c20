import type { Orchestration, OrchestrationStep } from './orchestration.ts';

/** What the interface answers a start with. */
export function toStarted({ id, status, steps }: Orchestration) {
  return {
    orchestration_id: id,
    status,
    agents: steps.map(toPart),
    progress_url: `/api/agents/orchestrate/${id}/progress`,
  };
}

/** How an orchestration stands, with its results. */
export function toProgress(orchestration: Orchestration) {
  const { steps } = orchestration;
  return {
    ...factsOf(orchestration),
    agents: steps.map((step) => ({
      ...toPart(step),
      ...(step.taskId !== undefined && { task_id: step.taskId }),
      ...(step.startedAtMs !== undefined && { started_at: timeOf(step.startedAtMs) }),
      ...(step.endedAtMs !== undefined && { ended_at: timeOf(step.endedAtMs) }),
    })),
    results: steps.filter(({ endedAtMs }) => endedAtMs !== undefined).map(toResult),
  };
}

/** Without results, for listings. */
export function toSummary(orchestration: Orchestration) {
  return { ...factsOf(orchestration), agents: orchestration.steps.map(toPart) };
}

function factsOf({ id, status, progress, task, createdAtMs, endedAtMs }: Orchestration) {
  return {
    orchestration_id: id,
    status,
    progress,
    task,
    created_at: timeOf(createdAtMs),
    ...(endedAtMs !== undefined && { ended_at: timeOf(endedAtMs) }),
  };
}

function toPart({ agentId: id, name, status }: OrchestrationStep) {
  return { id, name, status };
}

function toResult({ agentId, name, status, result, error }: OrchestrationStep) {
  return {
    agent_id: agentId,
    name,
    status,
    ...(result !== undefined && { result }),
    ...(error && { error }),
  };
}

function timeOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
