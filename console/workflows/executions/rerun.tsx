import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { ModalButton } from '../../ui/modal-button.tsx';
import type { FlowNode } from '../flow/flow.ts';
import { readMoreInputs } from '../flow/inputs.ts';
import type { Execution } from '../flow/runs.ts';

export interface RerunProps {
  readonly execution: Execution;
  readonly node: FlowNode;
}

/** Runs an execution again from a step on, as a new one. */
export function Rerun(props: RerunProps): ReactNode {
  return (
    <div>
      <Permitted needs="workflow:execute">
        <ModalButton label="Run again from here …" title={`Run again from ${props.node.id}`}>
          {(close) => <RerunForm {...props} onClose={close} />}
        </ModalButton>
      </Permitted>
    </div>
  );
}

function RerunForm({ execution, node, onClose }: RerunProps & { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const { executionId, workflowId } = execution;
  const rerun = useChange('workflow', 'POST /api/v1/executions/:executionId/rerun', {
    onDone: (started) => {
      onClose();
      navigate(`/${workflowId}/executions/${started.executionId}`);
    },
  });
  const start = (form: FormData) =>
    rerun.mutate(() => ({
      params: { executionId },
      body: { fromNode: node.id, inputs: readMoreInputs(textOf(form, 'inputs')) },
    }));
  return (
    <ChangeForm change={rerun} action="Run again" onSubmit={start} onCancel={onClose}>
      <p className="workflow-flat">
        Outputs that do not depend on this step are kept; it and what follows run anew, in an
        execution of their own.
      </p>
      <Field label="Inputs" hint="A JSON object, in place of the former ones, by key">
        <textarea name="inputs" className="mono" placeholder="{}" />
      </Field>
    </ChangeForm>
  );
}
