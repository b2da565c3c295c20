import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { useKept } from '../../ui/use-kept.ts';
import type { StudioTask } from '../answers.ts';
import { TaskBadge } from './task-badge.tsx';

const limit = 20;
const refreshMs = 5_000;
const statuses: readonly StudioTask['status'][] = [
  'queued',
  'assigned',
  'running',
  'completed',
  'failed',
];

export interface TaskListProps {
  readonly workspaceId: string;
  /** Only those of one agent. */
  readonly agentId?: string;
}

/** Tasks of a workspace, the newest first. */
export function TaskList({ workspaceId, agentId }: TaskListProps): ReactNode {
  const [offset, setOffset] = useKept('offset', 0);
  const [status, setStatus] = useKept<StudioTask['status'] | undefined>('status', undefined);
  const listed = useAnswer('studio', 'GET /api/v1/tasks', {
    query: {
      workspaceId,
      limit,
      offset,
      ...(agentId ? { agentId } : {}),
      ...(status ? { status } : {}),
    },
    everyMs: refreshMs,
  });
  const choose = (wanted: string) => {
    setOffset(0);
    setStatus(statuses.find((one) => one === wanted));
  };
  return (
    <div className="stack">
      <div className="filters">
        <Field label="State">
          <select value={status ?? ''} onChange={({ target }) => choose(target.value)}>
            <option value="">any</option>
            {statuses.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
      </div>
      <Answered query={listed}>
        {({ tasks, total }) => (
          <PagedTable
            columns={columns}
            rows={tasks}
            keyOf={({ taskId }) => taskId}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={<Empty title={status ? `No task is ${status}` : 'There are no tasks yet'} />}
          />
        )}
      </Answered>
    </div>
  );
}

const columns: readonly Column<StudioTask>[] = [
  {
    title: 'Task',
    cell: ({ taskId, type, input }) => (
      <Link href={`/tasks/${taskId}`}>{input.prompt?.slice(0, 80) || type}</Link>
    ),
  },
  { title: 'Type', cell: ({ type }) => type },
  { title: 'State', cell: (task) => <TaskBadge task={task} /> },
  { title: 'Given', cell: ({ createdAt }) => formatAge(createdAt) },
];
