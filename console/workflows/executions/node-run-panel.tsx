import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Badge } from '../../ui/badge.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatCount, formatDollars, formatDuration } from '../../ui/text.ts';
import { nameOf, settingsOf, type FlowNode } from '../flow/flow.ts';
import type { Execution, NodeRun } from '../flow/runs.ts';
import { Facts } from '../../ui/facts.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Rerun } from './rerun.tsx';
import { nodesOperation } from './use-execution.ts';

export interface NodeRunPanelProps {
  readonly execution: Execution;
  readonly node: FlowNode;
  readonly onClose: () => void;
}

const limit = 10;

/** What a step did in an execution, round by round where it lies in a loop. */
export function NodeRunPanel({ execution, node, onClose }: NodeRunPanelProps): ReactNode {
  const [offset, setOffset] = useState(0);
  const { executionId } = execution;
  const query = { nodeId: node.id, limit, offset };
  const runs = useAnswer('workflow', nodesOperation, { params: { executionId }, query });
  const total = runs.data?.total ?? 0;
  return (
    <div className="stack">
      <div className="row">
        <h2 className="workflow-flat workflow-grow">{nameOf(node)}</h2>
        <button
          type="button"
          className="quiet"
          aria-label="Back to the execution"
          onClick={onClose}
        >
          ✕
        </button>
      </div>
      <p className="faint workflow-flat">
        {node.type}, <code>{node.id}</code>
      </p>
      {runs.error && !runs.data ? <Problem error={runs.error} /> : null}
      {runs.data?.total === 0 ? <p className="faint">It was not reached yet.</p> : null}
      {runs.data?.nodes.map((run) => (
        <RunDetail key={run.iteration ?? ''} run={run} isOnly={total === 1} />
      ))}
      <Pager {...{ offset, limit, total }} onMove={setOffset} />
      {total > 0 ? <Rerun {...{ execution, node }} /> : null}
      <details>
        <summary>Settings, as the flow has them</summary>
        <JsonView value={settingsOf(node)} />
      </details>
    </div>
  );
}

interface RunDetailProps {
  readonly run: NodeRun;
  /** Shown whole; of several each opens by itself. */
  readonly isOnly: boolean;
}

function RunDetail({ run, isOnly }: RunDetailProps) {
  const { iteration, status, output, error, detail } = run;
  return (
    <details open={isOnly} className="workflow-run">
      <summary>
        {iteration === undefined ? '' : `Round ${iteration} `}
        <Badge state={status} />
      </summary>
      <div className="stack">
        <Facts facts={Object.entries(factsOf(run))} />
        {error ? <Problem error={error} /> : null}
        {detail ? <Detail detail={{ ...detail }} /> : null}
        {output === undefined ? null : (
          <section>
            <h2>Output</h2>
            <JsonView value={output} />
          </section>
        )}
      </div>
    </details>
  );
}

function factsOf(run: NodeRun): Readonly<Record<string, ReactNode>> {
  const { attempt, startedAt, duration, wakeAt, modelUsed, tokensUsed, cost } = run;
  return {
    Started: new Date(startedAt).toLocaleString(),
    ...(duration === undefined ? {} : { Took: formatDuration(duration) }),
    ...(attempt > 0 ? { Attempts: attempt } : {}),
    ...(wakeAt === undefined ? {} : { 'Waits until': new Date(wakeAt).toLocaleString() }),
    ...(modelUsed === undefined ? {} : { Model: modelUsed }),
    ...(tokensUsed === undefined ? {} : { Tokens: formatCount(tokensUsed) }),
    ...(cost === undefined || cost === 0 ? {} : { Cost: formatDollars(cost) }),
  };
}

/** What a step says of its waiting; an execution that it started leads there. */
function Detail({ detail }: { readonly detail: Readonly<Record<string, unknown>> }) {
  const { executionId, workflowId } = detail;
  return (
    <section>
      <h2>Detail</h2>
      {typeof executionId === 'string' && typeof workflowId === 'string' ? (
        <p>
          <Link href={`/${workflowId}/executions/${executionId}`}>The execution within</Link>
        </p>
      ) : null}
      <JsonView value={detail} />
    </section>
  );
}
