import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import type { Alert } from '../parts/answers.ts';
import { ConditionFields, type SetDraft } from './condition-fields.tsx';
import {
  bodyOf,
  draftOf,
  emptyDraft,
  severities,
  type AlertDraft,
  type Severity,
} from './draft.ts';
import { DryRunPanel } from './dry-run-panel.tsx';
import { NotificationFields } from './notification-fields.tsx';

export interface AlertFormProps {
  /** The one to change; undefined makes a new one. */
  readonly alert: Alert | undefined;
  readonly onDone: () => void;
}

/** Makes or changes an alert, and tries it on the past before. */
export function AlertForm({ alert, onDone }: AlertFormProps): ReactNode {
  const [draft, setDraft] = useState(alert ? draftOf(alert) : emptyDraft);
  const create = useChange('tracer', 'POST /api/v1/alerts');
  const change = useChange('tracer', 'PATCH /api/v1/alerts/:id');
  const set: SetDraft = (part) => setDraft((known) => ({ ...known, ...part }));
  const save = () => {
    const body = bodyOf(draft);
    if (alert) change.mutate({ params: { id: alert.alertId }, body }, { onSuccess: onDone });
    else create.mutate({ body }, { onSuccess: onDone });
  };
  return (
    <section className="card">
      <ChangeForm
        change={alert ? change : create}
        action={alert ? 'Save alert' : 'Create alert'}
        label={alert ? 'Edit alert' : 'New alert'}
        onSubmit={save}
        onCancel={onDone}
      >
        <h2>{alert ? `Edit “${alert.name}”` : 'New alert'}</h2>
        <NameFields draft={draft} onSet={set} />
        <ConditionFields draft={draft} onSet={set} />
        <NotificationFields
          notifications={draft.notifications}
          onSet={(notifications) => set({ notifications })}
        />
        <label>
          <input
            type="checkbox"
            checked={draft.isEnabled}
            onChange={({ target }) => set({ isEnabled: target.checked })}
          />{' '}
          Enabled
        </label>
        <DryRunPanel draft={draft} />
      </ChangeForm>
    </section>
  );
}

interface NameFieldsProps {
  readonly draft: AlertDraft;
  readonly onSet: SetDraft;
}

function NameFields({ draft, onSet }: NameFieldsProps): ReactNode {
  return (
    <div className="alert-fields">
      <Field label="Name">
        <input
          required
          maxLength={200}
          value={draft.name}
          onChange={({ target }) => onSet({ name: target.value })}
        />
      </Field>
      <Field label="Severity">
        <select
          value={draft.severity}
          onChange={({ target }) => onSet({ severity: target.value as Severity })}
        >
          {Object.entries(severities).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </Field>
    </div>
  );
}
