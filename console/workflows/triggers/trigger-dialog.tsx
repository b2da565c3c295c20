import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { filled, textOf } from '../../ui/form-values.ts';
import { Modal } from '../../ui/modal.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { nameOf, type Trigger } from './trigger.ts';
import { TriggerFields } from './trigger-fields.tsx';

export interface TriggerDialogProps {
  readonly workflowId: string;
  /** Absent for a new one. */
  readonly trigger: Trigger | undefined;
  readonly onClose: () => void;
}

/** Makes a trigger, or changes one; a new webhook's secret is shown this once. */
export function TriggerDialog({ workflowId, trigger, onClose }: TriggerDialogProps): ReactNode {
  return trigger ? (
    <Modal title={`Change ${nameOf(trigger)}`} onClose={onClose}>
      <Change trigger={trigger} onClose={onClose} />
    </Modal>
  ) : (
    <Modal title="New trigger" onClose={onClose}>
      <Creation workflowId={workflowId} onClose={onClose} />
    </Modal>
  );
}

const types: Readonly<Record<Trigger['type'], string>> = {
  schedule: 'at set times',
  webhook: 'when a request comes in',
  event: 'when something happens in the suite',
};

interface CreationProps {
  readonly workflowId: string;
  readonly onClose: () => void;
}

function Creation({ workflowId, onClose }: CreationProps) {
  const [type, setType] = useState<Trigger['type']>('schedule');
  const change = useChange('workflow', 'POST /api/v1/workflows/:workflowId/triggers');
  const creation = useMutation({
    mutationFn: async (form: FormData) =>
      change.mutateAsync({ params: { workflowId }, body: { type, ...bodyOf(form) } }),
    onSuccess: ({ secret }) => {
      if (secret === undefined) onClose();
    },
  });
  const secret = creation.data?.secret;
  if (secret !== undefined) {
    return (
      <div className="stack">
        <ShownOnce label="Secret" secret={secret} />
        <p className="faint">
          A sender says it in the header <code>X-Webhook-Secret</code>, or signs the body with it.
        </p>
        <div>
          <button type="button" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    );
  }
  return (
    <ChangeForm change={creation} action="Create" onSubmit={creation.mutate} onCancel={onClose}>
      <Field label="It fires">
        <select value={type} onChange={({ target }) => setType(target.value as Trigger['type'])}>
          {Object.entries(types).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      <TriggerFields key={type} type={type} />
    </ChangeForm>
  );
}

interface ChangeProps {
  readonly trigger: Trigger;
  readonly onClose: () => void;
}

function Change({ trigger, onClose }: ChangeProps) {
  const { workflowId, id: triggerId } = trigger;
  const patch = useChange('workflow', 'PATCH /api/v1/workflows/:workflowId/triggers/:triggerId');
  const change = useMutation({
    mutationFn: async (form: FormData) =>
      patch.mutateAsync({ params: { workflowId, triggerId }, body: bodyOf(form) }),
    onSuccess: onClose,
  });
  return (
    <ChangeForm change={change} action="Save" onSubmit={change.mutate} onCancel={onClose}>
      <TriggerFields type={trigger.type} trigger={trigger} />
    </ChangeForm>
  );
}

/** What was filled in: what is blank has its default, or stays as it is. */
function bodyOf(form: FormData) {
  const inputs = textOf(form, 'inputs').trim();
  return {
    ...filled(form, 'name'),
    ...filled(form, 'cron'),
    ...filled(form, 'timeZone'),
    ...filled(form, 'topic'),
    ...filled(form, 'filter'),
    ...(filled(form, 'method') as Pick<Trigger, 'method'>),
    ...(filled(form, 'verification') as Pick<Trigger, 'verification'>),
    ...(filled(form, 'overlap') as Pick<Trigger, 'overlap'>),
    ...(inputs === '' ? {} : { inputs: readInputs(inputs) }),
  };
}

function readInputs(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new Error('Inputs are no JSON');
  }
}
