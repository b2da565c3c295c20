import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { readTest, withTest, type FlowTest } from './flow-test.ts';

export interface TestDialogProps {
  readonly workflowId: string;
  /** All of the workflow: they are stored together. */
  readonly tests: readonly FlowTest[];
}

/** Writes a test. */
export function NewTestButton(props: TestDialogProps): ReactNode {
  return (
    <ModalButton label="New test" look="primary">
      {(close) => <TestForm {...props} onClose={close} />}
    </ModalButton>
  );
}

/** Changes a test. */
export function EditTestButton(props: TestDialogProps & { readonly test: FlowTest }): ReactNode {
  return (
    <ModalButton label="Edit" title={`Change ${props.test.name}`}>
      {(close) => <TestForm {...props} onClose={close} />}
    </ModalButton>
  );
}

interface TestFormProps extends TestDialogProps {
  readonly test?: FlowTest;
  readonly onClose: () => void;
}

function TestForm({ workflowId: id, tests, test, onClose }: TestFormProps) {
  const store = useChange('workflow', 'PUT /api/v1/workflows/:id/tests', { onDone: onClose });
  const save = (form: FormData) =>
    store.mutate(() => ({
      params: { id },
      body: { tests: withTest(tests, readTest(form), test) },
    }));
  return (
    <ChangeForm change={store} action="Save" onSubmit={save} onCancel={onClose}>
      <Field label="Name">
        <input name="name" required maxLength={200} defaultValue={test?.name} />
      </Field>
      <JsonField
        name="inputs"
        label="Inputs"
        value={test?.inputs}
        placeholder={'{"name": "Ada"}'}
      />
      <JsonField
        name="pinned"
        label="Pinned"
        value={test?.pinned}
        placeholder={'{"say": {"text": "Hello Ada"}}'}
        hint="Outputs by the id of a step: it is not run, and the flow goes on with what is pinned."
      />
      <Field label="It must end">
        <select name="status" defaultValue={test?.status ?? 'completed'}>
          <option>completed</option>
          <option>failed</option>
        </select>
      </Field>
      <JsonField
        name="expect"
        label="Expected"
        value={test?.expect}
        placeholder={'[{"node": "say", "path": "text", "contains": "Ada"}]'}
        hint='Of a step’s output, or of the result where no step is named: equals or contains. Or a condition: {"cel": "nodes.say != null"}.'
      />
    </ChangeForm>
  );
}

interface JsonFieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: unknown;
  readonly placeholder: string;
  readonly hint?: string;
}

function JsonField({ name, label, value, placeholder, hint }: JsonFieldProps) {
  return (
    <Field label={label} hint={hint}>
      <textarea
        name={name}
        className="mono"
        rows={3}
        placeholder={placeholder}
        defaultValue={value === undefined ? '' : JSON.stringify(value, null, 2)}
      />
    </Field>
  );
}
