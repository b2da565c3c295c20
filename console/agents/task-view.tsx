import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useChange } from '../api/answers.ts';
import { call } from '../api/call.ts';
import { Badge } from '../ui/badge.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Problem } from '../ui/problem.tsx';
import { formatDuration } from '../ui/text.ts';
import { hasEnded, type TaskRun, type TaskState } from './task-run.ts';

/** Seconds that the mesh holds an answer back until the task ends. */
const waitSeconds = 1;

/** A task's state and, once it is there, what came of it. */
export function TaskView({ run }: { readonly run: TaskRun }): ReactNode {
  const { taskId, traceId, type } = run;
  const task = useQuery({
    queryKey: ['mesh', 'task', taskId],
    queryFn: ({ client, queryKey }) => {
      // The first answer comes at once, the others when there is news.
      const wait = client.getQueryData(queryKey) === undefined ? 0 : waitSeconds;
      return call('mesh', 'GET /api/v1/tasks/:taskId', { params: { taskId }, query: { wait } });
    },
    refetchInterval: ({ state: { data, error } }) =>
      error || (data && hasEnded(data)) ? false : 1,
  });
  return (
    <article className="card stack" aria-label={`Task ${taskId}`}>
      <header className="row">
        <strong>{type}</strong>
        {task.data ? <Badge state={task.data.status} /> : null}
        <span className="push">
          <Link href={`~/traces/${traceId}`}>Trace</Link>
        </span>
      </header>
      {task.error ? (
        <Problem error={task.error} onRetry={() => void task.refetch()} />
      ) : (
        task.data && <Outcome task={task.data} />
      )}
      <code className="faint">{taskId}</code>
    </article>
  );
}

function Outcome({ task }: { readonly task: TaskState }): ReactNode {
  const { executedBy, duration, priority, deadlineAt, error, result } = task;
  const isOver = hasEnded(task);
  return (
    <>
      <p className="faint flat">
        {[
          priority,
          executedBy && `by ${executedBy}`,
          duration !== undefined && formatDuration(duration),
          !isOver && `until ${new Date(deadlineAt).toLocaleTimeString()}`,
        ]
          .filter(Boolean)
          .join(', ')}
      </p>
      {isOver ? null : <Cancel taskId={task.taskId} />}
      {error ? <Problem error={error} /> : null}
      {task.status === 'completed' ? <Result result={result} /> : null}
    </>
  );
}

function Cancel({ taskId }: { readonly taskId: string }): ReactNode {
  const cancel = useChange('mesh', 'DELETE /api/v1/tasks/:taskId');
  return (
    <div className="row">
      <button
        type="button"
        disabled={cancel.isPending}
        onClick={() => cancel.mutate({ params: { taskId } })}
      >
        Cancel
      </button>
      {cancel.error ? <Problem error={cancel.error} /> : null}
    </div>
  );
}

/** The text of an answer by itself, where it has one; all else as it came. */
function Result({ result }: { readonly result: unknown }): ReactNode {
  if (result === undefined) return <p className="faint">The result is too large to be kept.</p>;
  const text = textOf(result);
  if (text === undefined) return <JsonView value={result} />;
  return (
    <>
      <p className="task-text">{text}</p>
      {typeof result === 'string' ? null : (
        <details>
          <summary>Whole result</summary>
          <JsonView value={result} />
        </details>
      )}
    </>
  );
}

function textOf(result: unknown): string | undefined {
  if (typeof result === 'string') return result;
  if (typeof result !== 'object' || result === null || !('text' in result)) return undefined;
  return typeof result.text === 'string' ? result.text : undefined;
}
