import { SpanKind, type Span, type Tracer } from '../../kit/trace/trace.ts';
import { parseTraceparent } from '../../kit/trace/trace-context.ts';
import type { TaskRun } from './task-run.ts';

/** Starts the span of a task, under that of whoever asked; the caller ends it. */
export function startTaskSpan(tracer: Tracer, run: TaskRun): Span {
  const { taskId, task, target, traceparent, askedBy } = run;
  const { type, priority } = task;
  return tracer.start(`task ${type}`, {
    kind: SpanKind.CLIENT,
    parent: parseTraceparent(traceparent),
    attributes: {
      'mesh.task.id': taskId,
      'mesh.task.type': type,
      'mesh.task.priority': priority,
      'enduser.id': askedBy,
      ...('capability' in target && { 'mesh.capability': target.capability }),
    },
  });
}
