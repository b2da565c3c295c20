import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { call } from '../../api/call.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Heading } from '../../ui/heading.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { Execution } from '../flow/runs.ts';

export interface ExecutionHeadProps {
  readonly execution: Execution;
  /** Of its workflow. */
  readonly name: string | undefined;
}

/** What an execution is of, how it stands, and what can be done with it. */
export function ExecutionHead({ execution, name }: ExecutionHeadProps): ReactNode {
  const { executionId, workflowId, status, version } = execution;
  const resume = useChange('workflow', 'POST /api/v1/executions/:executionId/resume');
  return (
    <header className="workflow-toolbar">
      <Link href={`/${workflowId}/executions`} aria-label="Executions of this workflow">
        ←
      </Link>
      <Heading>
        <Link href={`/${workflowId}`}>{name ?? workflowId}</Link>
      </Heading>
      <span className="faint">
        version {version}, <code>{executionId}</code>
      </span>
      <output aria-label="State">
        <Badge state={status} />
      </output>
      <div className="actions">
        <TraceLink execution={execution} />
        <Permitted needs="workflow:execute">
          {status === 'running' ? <CancelButton executionId={executionId} /> : null}
          {status === 'failed' || status === 'cancelled' ? (
            <button
              type="button"
              title="What was finished is kept, what failed is run again"
              disabled={resume.isPending}
              onClick={() => resume.mutate({ params: { executionId }, body: {} })}
            >
              Resume
            </button>
          ) : null}
        </Permitted>
      </div>
      {resume.error ? <Problem error={resume.error} /> : null}
    </header>
  );
}

function CancelButton({ executionId }: { readonly executionId: string }) {
  const cancel = useChange('workflow', 'POST /api/v1/executions/:executionId/cancel');
  return (
    <ConfirmButton
      label="Cancel"
      title="Call this execution off?"
      action="Call it off"
      onConfirm={() => cancel.mutateAsync({ params: { executionId } })}
    >
      <p>Steps that run are aborted. It can be resumed later.</p>
    </ConfirmButton>
  );
}

/** Found by the execution's id, which its span bears; that comes a little after the execution's end. */
function TraceLink({ execution: { executionId, completedAt } }: { readonly execution: Execution }) {
  const isRecent = useIsRecent(completedAt);
  const { data: traceId } = useQuery({
    queryKey: ['tracer', 'execution', executionId],
    queryFn: () => findTrace(executionId),
    refetchInterval: ({ state }) => (isRecent && !state.data ? lookMs : false),
  });
  return traceId ? <Link href={`~/traces/${traceId}`}>Trace</Link> : null;
}

async function findTrace(executionId: string): Promise<string | null> {
  const tags = JSON.stringify({ 'workflow.execution': executionId });
  const query = { service: 'workflow', tags, limit: '1' };
  const { data } = await call('tracer', 'GET /api/traces', { query });
  return data[0]?.traceID ?? null;
}

const lookMs = 4_000;
const recentMs = 60_000;

/** Whether a time has not come, or was a moment ago when this page was opened. */
function useIsRecent(time: string | undefined): boolean {
  const [openedAtMs] = useState(Date.now);
  return time === undefined || Date.parse(time) > openedAtMs - recentMs;
}
