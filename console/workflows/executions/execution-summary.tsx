import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { formatCount, formatDollars, formatDuration } from '../../ui/text.ts';
import { nameOf, type Flow } from '../flow/flow.ts';
import type { Execution, NodeRun } from '../flow/runs.ts';
import { Facts } from '../../ui/facts.tsx';

export interface ExecutionSummaryProps {
  readonly execution: Execution;
  readonly flow: Flow;
  readonly onSelect: (nodeId: string) => void;
}

/** What an execution took and came to, and its steps in the order of their start. */
export function ExecutionSummary({ execution, flow, onSelect }: ExecutionSummaryProps): ReactNode {
  const { error, result, nodes, nodesTotal } = execution;
  return (
    <div className="stack">
      <h2>Execution</h2>
      <Facts facts={Object.entries(factsOf(execution))} />
      {error ? (
        <div className="workflow-error" role="alert">
          {error.nodeId ? (
            <button type="button" className="quiet" onClick={() => onSelect(error.nodeId)}>
              {error.nodeId}
            </button>
          ) : null}
          {error.message} ({error.code})
        </div>
      ) : null}
      {result ? (
        <section>
          <h2>Result</h2>
          <JsonView value={result} />
        </section>
      ) : null}
      <section>
        <h2>Steps</h2>
        {nodesTotal === undefined ? null : (
          <p className="faint">
            The newest {formatCount(nodes.length)} of {formatCount(nodesTotal)}.
          </p>
        )}
        <ol className="workflow-runs">
          {nodes.map((run) => (
            <RunItem
              key={`${run.nodeId} ${run.iteration}`}
              {...{ run, flow }}
              onSelect={onSelect}
            />
          ))}
        </ol>
      </section>
    </div>
  );
}

function factsOf(execution: Execution): Readonly<Record<string, ReactNode>> {
  const { startedAt, duration, tokensUsed, cost, trigger, batch, retryable } = execution;
  return {
    Started: new Date(startedAt).toLocaleString(),
    By: trigger,
    ...(batch ? { Batch: `${batch.id}, item ${batch.index}` } : {}),
    ...(duration === undefined ? {} : { Took: formatDuration(duration) }),
    ...(tokensUsed > 0 ? { Tokens: formatCount(tokensUsed) } : {}),
    ...(cost > 0 ? { Cost: formatDollars(cost) } : {}),
    ...(retryable === undefined
      ? {}
      : { 'Worth another try': retryable ? 'yes' : 'no: the same would fail again' }),
  };
}

interface RunItemProps {
  readonly run: NodeRun;
  readonly flow: Flow;
  readonly onSelect: (nodeId: string) => void;
}

function RunItem({ run, flow, onSelect }: RunItemProps) {
  const { nodeId, iteration, status, duration } = run;
  const node = flow.nodes.find(({ id }) => id === nodeId);
  return (
    <li>
      <button type="button" className="quiet" onClick={() => onSelect(nodeId)}>
        {node ? nameOf(node) : nodeId}
        {iteration === undefined ? '' : ` (round ${iteration})`}
      </button>
      <Badge state={status} />
      <span className="faint">
        {duration === undefined || status === 'skipped' ? '' : formatDuration(duration)}
      </span>
    </li>
  );
}
