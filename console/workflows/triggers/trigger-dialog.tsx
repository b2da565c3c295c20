import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { readObject } from '../../ui/entry-text.ts';
import { Field } from '../../ui/field.tsx';
import { filled, textOf } from '../../ui/form-values.ts';
import { ModalButton } from '../../ui/modal-button.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { TriggerFields } from './trigger-fields.tsx';
import { nameOf, type Trigger } from './trigger.ts';

/** Makes a trigger; a new webhook's secret is shown this once. */
export function NewTriggerButton({ workflowId }: { readonly workflowId: string }): ReactNode {
  return (
    <Permitted needs="workflow:create">
      <ModalButton label="New trigger" look="primary">
        {(close) => <Creation workflowId={workflowId} onClose={close} />}
      </ModalButton>
    </Permitted>
  );
}

/** Changes a trigger. */
export function EditTriggerButton({ trigger }: { readonly trigger: Trigger }): ReactNode {
  return (
    <ModalButton label="Edit" title={`Change ${nameOf(trigger)}`}>
      {(close) => <Change trigger={trigger} onClose={close} />}
    </ModalButton>
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
  const creation = useChange('workflow', 'POST /api/v1/workflows/:workflowId/triggers', {
    onDone: ({ secret }) => {
      if (secret === undefined) onClose();
    },
  });
  const create = (form: FormData) =>
    creation.mutate(() => ({ params: { workflowId }, body: { type, ...bodyOf(form) } }));
  const secret = creation.data?.secret;
  if (secret !== undefined) {
    return (
      <ShownOnce label="Secret" secret={secret} onDone={onClose}>
        <p className="faint">
          A sender says it in the header <code>X-Webhook-Secret</code>, or signs the body with it.
        </p>
      </ShownOnce>
    );
  }
  return (
    <ChangeForm change={creation} action="Create" onSubmit={create} onCancel={onClose}>
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
  const change = useChange('workflow', 'PATCH /api/v1/workflows/:workflowId/triggers/:triggerId', {
    onDone: onClose,
  });
  const save = (form: FormData) =>
    change.mutate(() => ({ params: { workflowId, triggerId }, body: bodyOf(form) }));
  return (
    <ChangeForm change={change} action="Save" onSubmit={save} onCancel={onClose}>
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
    ...(inputs === '' ? {} : { inputs: readObject(inputs, 'Inputs') }),
  };
}
