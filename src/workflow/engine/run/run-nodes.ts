import { parseTraceparent } from '../../../kit/trace/trace-context.ts';
import { failSpan, type Span, type Tracer } from '../../../kit/trace/trace.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import type { Seen } from '../walk/given-inputs.ts';
import { runNode, type NodeEnd, type NodeWork } from './node-runner.ts';
import type { RunEnvironment } from './run-environment.ts';
import type { Step } from '../walk/walk-frame.ts';

export interface Launch {
  readonly stored: StoredExecution;
  readonly env: RunEnvironment;
  /** The execution's. */
  readonly span: Span;
  readonly signal: AbortSignal;
  readonly seen: Seen;
  readonly underway: NodeWork['underway'];
  readonly budget: NodeWork['budget'];
  readonly onRetry: NodeWork['onRetry'];
}

/** Runs one node of an execution inside a span of its own. */
export async function launchNode(step: Step, launch: Launch): Promise<NodeEnd> {
  const { stored, env, signal, seen, underway, budget, onRetry } = launch;
  const { clock, log, metrics, tracer } = env;
  const { nodeId, iteration } = step;
  const { component } = step.shape.planned;
  const startMs = clock.nowMs();
  const span = tracer.start(`node ${component.name}`, {
    parent: launch.span.spanContext(),
    attributes: { 'workflow.node': nodeId, 'workflow.iteration': iteration },
  });
  const end = await runNode({
    step,
    settings: seen.settings,
    clock,
    signal,
    deadlineAtMs: stored.deadlineAtMs,
    underway,
    budget,
    onRetry,
    context: {
      executionId: stored.id,
      workflowId: stored.workflowId,
      nodeId,
      iteration,
      idempotencyKey: `${stored.id}:${nodeId}:${iteration}`,
      resumes: stored.resumes,
      ownerId: stored.ownerId,
      permissions: stored.request.permissions ?? [],
      callerToken: () => env.callerToken(stored),
      predecessors: seen.predecessors,
      span,
      log,
    },
  });
  metrics.node(component.name, clock.nowMs() - startMs);
  if (end.kind === 'failed') failSpan(span, new Error(end.failure.error.message));
  span.end();
  return end;
}

/** The span of an execution, a child of whatever caused it. */
export function startExecutionSpan(
  tracer: Tracer,
  { id, workflowId, request }: StoredExecution,
): Span {
  const parent = parseTraceparent(request.traceparent);
  return tracer.start('workflow execution', {
    ...(parent ? { parent } : {}),
    attributes: { 'workflow.id': workflowId, 'workflow.execution': id },
  });
}
