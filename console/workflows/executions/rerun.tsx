import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { Field } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { FlowNode } from '../flow/flow.ts';
import { readMoreInputs } from '../flow/inputs.ts';
import type { Execution } from '../flow/runs.ts';
import { Modal } from '../../ui/modal.tsx';

export interface RerunProps {
  readonly execution: Execution;
  readonly node: FlowNode;
}

/** Runs an execution again from a step on, as a new one. */
export function Rerun(props: RerunProps): ReactNode {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <button type="button" className="workflow-start" onClick={() => setIsAsking(true)}>
        Run again from here …
      </button>
      {isAsking ? <RerunDialog {...props} onClose={() => setIsAsking(false)} /> : null}
    </>
  );
}

function RerunDialog({ execution, node, onClose }: RerunProps & { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [flaw, setFlaw] = useState<Error>();
  const { executionId, workflowId } = execution;
  const rerun = useChange('workflow', 'POST /api/v1/executions/:executionId/rerun');
  const start = async () => {
    const inputs = readMoreInputs(text);
    const body = { fromNode: node.id, inputs };
    const started = await rerun.mutateAsync({ params: { executionId }, body });
    onClose();
    navigate(`/${workflowId}/executions/${started.executionId}`);
  };
  return (
    <Modal title={`Run again from ${node.id}`} onClose={onClose}>
      <p className="workflow-flat">
        Outputs that do not depend on this step are kept; it and what follows run anew, in an
        execution of their own.
      </p>
      <Field label="Inputs" hint="A JSON object, in place of the former ones, by key">
        <textarea
          className="mono"
          placeholder="{}"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </Field>
      {flaw ? <Problem error={flaw} /> : null}
      <div className="row workflow-end">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button
          type="button"
          className="primary"
          disabled={rerun.isPending}
          onClick={() => {
            setFlaw(undefined);
            start().catch(setFlaw);
          }}
        >
          Run again
        </button>
      </div>
    </Modal>
  );
}
