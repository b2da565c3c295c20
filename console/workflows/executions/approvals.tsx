import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Decision } from '../../ui/decision.tsx';
import { Field } from '../../ui/field.tsx';
import type { Flow } from '../flow/flow.ts';
import type { Execution, NodeRun } from '../flow/runs.ts';

export interface ApprovalsProps {
  readonly execution: Execution;
  readonly flow: Flow;
}

/** What waits for a person's yes or no. */
export function Approvals({ execution, flow }: ApprovalsProps): ReactNode {
  const asking = new Set(flow.nodes.filter(({ type }) => type === 'Approval').map(({ id }) => id));
  return execution.nodes
    .filter(({ nodeId, status }) => status === 'waiting' && asking.has(nodeId))
    .map((run) => (
      <Approval
        key={`${run.nodeId} ${run.iteration}`}
        executionId={execution.executionId}
        run={run}
      />
    ));
}

interface ApprovalProps {
  readonly executionId: string;
  readonly run: NodeRun;
}

function Approval({ executionId, run: { nodeId, iteration = '', detail } }: ApprovalProps) {
  const [comment, setComment] = useState('');
  const decide = useChange('workflow', 'POST /api/v1/executions/:executionId/approvals/:nodeId');
  const { message }: { message?: unknown } = detail ?? {};
  const answer = (approved: boolean) =>
    decide.mutate({
      params: { executionId, nodeId },
      query: { iteration },
      body: { approved, ...(comment.trim() === '' ? {} : { comment: comment.trim() }) },
    });
  return (
    <section className="card stack workflow-approval" aria-label={`Approval ${nodeId}`}>
      <strong>{typeof message === 'string' ? message : nodeId}</strong>
      <Field label="Comment">
        <input value={comment} onChange={({ target }) => setComment(target.value)} />
      </Field>
      <Permitted needs="workflow:execute">
        <Decision change={decide} refusal="Reject" onDecide={answer} />
      </Permitted>
    </section>
  );
}
