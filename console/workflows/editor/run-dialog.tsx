import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { call } from '../../api/call.ts';
import { onceOnly } from '../../api/request-key.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { Modal } from '../../ui/modal.tsx';
import { findInputs, readInputs, readMoreInputs, type TypedInput } from '../flow/inputs.ts';
import type { DraftState } from './use-draft.ts';
import type { Storing } from './use-storing.ts';

export interface RunDialogProps {
  readonly draft: DraftState;
  readonly storing: Storing;
  readonly onClose: () => void;
}

/** Asks for the inputs that the flow reads, saves what is not saved, and runs it. */
export function RunDialog({ draft, storing, onClose }: RunDialogProps): ReactNode {
  const [, navigate] = useLocation();
  const hints = useInputHints(storing.facts?.templateId);
  const names = findInputs(draft.flow);
  const [typed, setTyped] = useState<Readonly<Record<string, TypedInput>>>({});
  const [more, setMore] = useState('');
  const run = useMutation({
    mutationFn: async () => {
      const inputs = { ...readInputs(Object.values(typed)), ...readMoreInputs(more) };
      const stored = await storing.save();
      if (!stored) return onClose();
      const { id, latestVersion: version } = stored;
      const input = { params: { id }, body: { inputs, options: { version } }, headers: onceOnly() };
      const { executionId } = await call('workflow', 'POST /api/v1/workflows/:id/execute', input);
      navigate(`/${id}/executions/${executionId}`);
    },
  });
  return (
    <Modal title={`Run ${draft.labels.name}`} onClose={onClose}>
      <ChangeForm
        change={run}
        action={draft.isChanged ? 'Save and run' : 'Run'}
        onSubmit={() => run.mutate()}
        onCancel={onClose}
      >
        {names.map((name) => (
          <InputField
            key={name}
            input={typed[name] ?? { name, text: '', isJson: hints.get(name)?.isJson ?? false }}
            hint={hints.get(name)?.text}
            onChange={(input) => setTyped({ ...typed, [name]: input })}
          />
        ))}
        <Field
          label={names.length > 0 ? 'More inputs' : 'Inputs'}
          hint="A JSON object. By the id of a step they are merged over its settings."
        >
          <textarea
            className="mono"
            placeholder="{}"
            value={more}
            onChange={({ target }) => setMore(target.value)}
          />
        </Field>
      </ChangeForm>
    </Modal>
  );
}

interface InputFieldProps {
  readonly input: TypedInput;
  readonly hint: string | undefined;
  readonly onChange: (input: TypedInput) => void;
}

function InputField({ input, hint, onChange }: InputFieldProps) {
  const { name, text, isJson } = input;
  return (
    <div className="workflow-input">
      <Field label={name} hint={hint}>
        <textarea
          className={isJson ? 'mono' : undefined}
          rows={2}
          value={text}
          onChange={({ target }) => onChange({ ...input, text: target.value })}
        />
      </Field>
      <select
        aria-label={`Type of ${name}`}
        value={isJson ? 'JSON' : 'text'}
        onChange={({ target }) => onChange({ ...input, isJson: target.value === 'JSON' })}
      >
        <option>text</option>
        <option>JSON</option>
      </select>
    </div>
  );
}

interface InputHint {
  readonly text: string;
  readonly isJson: boolean;
}

/** What the template of a workflow says of its inputs. */
function useInputHints(templateId: string | undefined): ReadonlyMap<string, InputHint> {
  const isEnabled = templateId !== undefined;
  const { data } = useAnswer('workflow', 'GET /api/v1/workflows/templates', { isEnabled });
  const template = data?.templates.find(({ id }) => id === templateId);
  return new Map(
    template?.inputs.map(({ name, description, example }) => [
      name,
      {
        text: `${description}, such as ${typeof example === 'string' ? example : JSON.stringify(example)}`,
        isJson: typeof example !== 'string',
      },
    ]),
  );
}
