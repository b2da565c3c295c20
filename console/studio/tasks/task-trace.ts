import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import type { StudioTask } from '../answers.ts';
import { isOver } from './task-badge.tsx';

const refreshMs = 3_000;
/** The trace begins a little before the task is stored. */
const leadMs = 5_000;

/** The id of the trace that shows a task; null while the tracer has none. */
export function useTaskTrace(task: StudioTask): UseQueryResult<string | null> {
  const { taskId, attempt } = task;
  return useQuery({
    queryKey: ['task-trace', taskId],
    queryFn: () => findTrace(task),
    enabled: attempt > 0,
    // Spans come a moment after what they tell of.
    refetchInterval: ({ state }) => (state.data || isLongOver(task) ? false : refreshMs),
  });
}

function isLongOver({ status, completedAt }: StudioTask): boolean {
  return isOver({ status }) && Date.now() - Date.parse(completedAt ?? '') > 60_000;
}

/** Among the traces that began when the task was given, the one with its span. */
async function findTrace({ taskId, createdAt, assignedAgent }: StudioTask): Promise<string | null> {
  const givenMs = Date.parse(createdAt);
  const { traces } = await call('tracer', 'GET /api/v1/traces', {
    query: {
      startTime: new Date(givenMs - leadMs).toISOString(),
      endTime: new Date(givenMs + 1).toISOString(),
      limit: 20,
      ...(assignedAgent ? { agentId: assignedAgent } : {}),
    },
  });
  for (const { traceId } of traces) {
    const { spans } = await call('tracer', 'GET /api/v1/traces/:traceId', { params: { traceId } });
    if (spans.some(({ tags }) => tags?.['studio.task.id'] === taskId)) return traceId;
  }
  return null;
}
