import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Badge } from '../../ui/badge.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { Execution } from '../flow/runs.ts';
import { Confirmation } from '../parts/confirmation.tsx';

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
      <h1>
        <Link href={`/${workflowId}`}>{name ?? workflowId}</Link>
      </h1>
      <span className="faint">
        version {version}, <code>{executionId}</code>
      </span>
      <output aria-label="State">
        <Badge state={status} />
      </output>
      <div className="actions">
        <TraceLink execution={execution} />
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
      </div>
      {resume.error ? <Problem error={resume.error} /> : null}
    </header>
  );
}

function CancelButton({ executionId }: { readonly executionId: string }) {
  const [isAsking, setIsAsking] = useState(false);
  const cancel = useChange('workflow', 'POST /api/v1/executions/:executionId/cancel');
  const close = () => setIsAsking(false);
  return (
    <>
      <button type="button" className="danger" onClick={() => setIsAsking(true)}>
        Cancel
      </button>
      {isAsking ? (
        <Confirmation
          title="Call this execution off?"
          verb="Call it off"
          isBusy={cancel.isPending}
          error={cancel.error}
          onConfirm={() => cancel.mutate({ params: { executionId } }, { onSuccess: close })}
          onClose={close}
        >
          <p>Steps that run are aborted. It can be resumed later.</p>
        </Confirmation>
      ) : null}
    </>
  );
}

/** Found by the execution's id, which its span bears; not there yet while the execution is new. */
function TraceLink({ execution: { executionId, status } }: { readonly execution: Execution }) {
  const tags = JSON.stringify({ 'workflow.execution': executionId });
  const query = { service: 'workflow', tags, limit: '1' };
  const everyMs = 4_000;
  const { data } = useAnswer('tracer', 'GET /api/traces', {
    query,
    ...(status === 'running' ? { everyMs } : {}),
  });
  const traceId = data?.data[0]?.traceID;
  return traceId === undefined ? null : <Link href={`~/traces/${traceId}`}>Trace</Link>;
}
