import { nothing } from './agent-loads.ts';
import { formatResources } from '../quantities.ts';
import type { Artefact, StudioTask } from './task.ts';

/** A task as the interface has it. */
export function showTask(task: StudioTask) {
  const { id, type, priority, requirements, status, ownerId, input, attempt, createdAtMs } = task;
  const { assignedAgent, wantedAgent, workspaceId } = task;
  return {
    taskId: id,
    type,
    priority,
    requirements: {
      capabilities: [...requirements.capabilities],
      resources: formatResources(requirements.resources ?? nothing),
      timeout: requirements.timeoutMs,
    },
    ...(assignedAgent !== undefined && { assignedAgent }),
    status,
    ...(wantedAgent !== undefined && { wantedAgent }),
    ...(workspaceId !== undefined && { workspaceId }),
    ownerId,
    input: {
      ...(input.prompt !== undefined && { prompt: input.prompt }),
      ...(input.context && { context: { ...input.context } }),
    },
    attempt,
    ...outcomeOf(task),
    createdAt: toTime(createdAtMs),
  };
}

function outcomeOf(task: StudioTask) {
  const { waiting, result, artefacts, failure, startedAtMs, endedAtMs } = task;
  return {
    ...(waiting && { waiting: { ...waiting } }),
    ...(result && { result: { ...result } }),
    ...(artefacts && { artefacts: artefacts.map(showArtefact) }),
    ...(failure && { error: { ...failure } }),
    ...(startedAtMs !== undefined && { startedAt: toTime(startedAtMs) }),
    ...(endedAtMs !== undefined && { completedAt: toTime(endedAtMs) }),
  };
}

function showArtefact(artefact: Artefact) {
  if (artefact.kind === 'findings') {
    return { ...artefact, findings: artefact.findings.map((finding) => ({ ...finding })) };
  }
  if (artefact.kind !== 'test_report') return { ...artefact };
  const { report } = artefact;
  return { ...artefact, report: { ...report, cases: report.cases.map((one) => ({ ...one })) } };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
