import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { useIsAllowed } from '../../session/person.ts';
import { Answered } from '../../ui/answered.tsx';
import { Facts } from '../../ui/facts.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatAge, formatCount, formatDuration } from '../../ui/text.ts';
import type { StudioTask, Workspace } from '../answers.ts';
import { useRights } from '../workspaces/use-rights.ts';
import { ArtefactView } from './artefact-view.tsx';
import { isOver, TaskBadge } from './task-badge.tsx';
import { useTaskTrace } from './task-trace.ts';

const refreshMs = 2_000;

export interface TaskPageProps {
  readonly workspace: Workspace;
  readonly id: string;
}

/** A task: what was asked, and what became of it. */
export function TaskPage({ workspace, id }: TaskPageProps): ReactNode {
  const { mayRunAgents } = useRights(workspace);
  const task = useAnswer('studio', 'GET /api/v1/tasks/:taskId', {
    params: { taskId: id },
    everyMs: refreshMs,
  });
  return (
    <Answered query={task}>
      {(found) => (
        <div className="stack">
          <TaskHead task={found} mayCancel={mayRunAgents} />
          {found.waiting ? <p className="notice">{found.waiting.message}</p> : null}
          {found.error ? <Problem error={found.error} /> : null}
          <div className="columns">
            <TaskFacts task={found} />
            <section className="card stack" aria-label="What was asked">
              <h2>Asked</h2>
              <JsonView value={found.input.prompt ?? '(no words)'} />
              {found.input.context ? <JsonView value={found.input.context} /> : null}
            </section>
          </div>
          <TaskResult task={found} />
        </div>
      )}
    </Answered>
  );
}

function TaskHead({ task, mayCancel }: { readonly task: StudioTask; readonly mayCancel: boolean }) {
  const cancellation = useChange('studio', 'DELETE /api/v1/tasks/:taskId');
  const params = { taskId: task.taskId };
  return (
    <>
      <div className="row file-bar">
        <h2>
          <Link href="/tasks">Tasks</Link> / {task.type}
        </h2>
        <TaskBadge task={task} />
        {mayCancel && !isOver(task) ? (
          <div className="actions">
            <button
              type="button"
              disabled={cancellation.isPending}
              onClick={() => cancellation.mutate({ params })}
            >
              Call it off
            </button>
          </div>
        ) : null}
      </div>
      {cancellation.error ? <Problem error={cancellation.error} /> : null}
    </>
  );
}

function TaskFacts({ task }: { readonly task: StudioTask }) {
  const { assignedAgent = task.wantedAgent, startedAt, completedAt, result } = task;
  const mayReadTraces = useIsAllowed('tracer:read');
  return (
    <section className="card" aria-label="About the task">
      <h2>About</h2>
      <Facts
        facts={[
          [
            'Agent',
            assignedAgent ? (
              <Link key="agent" href={`/agents/${assignedAgent}`}>
                {assignedAgent}
              </Link>
            ) : (
              'any'
            ),
          ],
          ['Priority', task.priority],
          ['Given', formatAge(task.createdAt)],
          ['Attempt', task.attempt],
          ['Took', startedAt && completedAt && formatSpan(startedAt, completedAt)],
          ['Model', result?.model],
          ['Tokens', result?.usage && tellTokens(result.usage)],
          ['Trace', mayReadTraces && <TraceLink key="trace" task={task} />],
        ]}
      />
    </section>
  );
}

function formatSpan(from: string, to: string): string {
  return formatDuration(Date.parse(to) - Date.parse(from));
}

type Usage = NonNullable<NonNullable<StudioTask['result']>['usage']>;

function tellTokens({ promptTokens, completionTokens }: Usage): string {
  return `${formatCount(promptTokens)} in, ${formatCount(completionTokens)} out`;
}

function TraceLink({ task }: { readonly task: StudioTask }) {
  const trace = useTaskTrace(task);
  if (trace.data) return <Link href={`~/traces/${trace.data}`}>{trace.data}</Link>;
  return (
    <span className="faint">
      {trace.error ? trace.error.message : 'the tracer has none of it yet'}
    </span>
  );
}

function TaskResult({ task }: { readonly task: StudioTask }) {
  const { result, artefacts = [] } = task;
  if (!result && artefacts.length === 0) return null;
  return (
    <section className="card stack" aria-label="Result">
      <h2>Result</h2>
      {result ? <JsonView value={result.text} /> : null}
      {artefacts.map((artefact, at) => (
        // Artefacts have no name but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <ArtefactView key={at} artefact={artefact} />
      ))}
    </section>
  );
}
