import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { ProviderDetails } from './provider-details.tsx';
import { ProviderKeys } from './provider-keys.tsx';
import { ProviderModels } from './provider-models.tsx';
import {
  dialects,
  newProvider,
  toForm,
  toSettings,
  type Configured,
  type ProviderForm,
} from './provider-settings.ts';
import type { FormPartProps } from './form-part.ts';

export interface ProviderSettingsFormProps {
  /** Absent for a new one. */
  readonly provider?: Configured;
  readonly onSaved?: (name: string) => void;
}

/** Adds a provider, or replaces its settings. */
export function ProviderSettingsForm({ provider, onSaved }: ProviderSettingsFormProps): ReactNode {
  const [name, setName] = useState(provider?.name ?? '');
  const [form, setForm] = useState<ProviderForm>(provider ? toForm(provider) : newProvider);
  const saving = useChange('gateway', 'PUT /api/v1/providers/:name');
  const set = (change: Partial<ProviderForm>) => setForm((before) => ({ ...before, ...change }));
  const save = () => {
    saving.mutate(() => ({ params: { name }, body: toSettings(form) }), {
      onSuccess: (saved) => {
        // No key stays in the page once it is stored.
        setForm(toForm(saved));
        onSaved?.(saved.name);
      },
    });
  };
  return (
    <ChangeForm
      change={saving}
      action={provider ? 'Save' : 'Add'}
      doneText="Saved: in force at once."
      onSubmit={save}
    >
      {provider ? null : (
        <Field label="Name" hint="lower-case letters, digits and hyphens">
          <input required value={name} onChange={({ target }) => setName(target.value.trim())} />
        </Field>
      )}
      <AddressFields form={form} onSet={set} />
      <ProviderKeys form={form} onSet={set} keyCount={provider?.keyCount ?? 0} />
      <ProviderModels form={form} onSet={set} />
      <ProviderDetails form={form} onSet={set} />
    </ChangeForm>
  );
}

function AddressFields({ form, onSet }: FormPartProps): ReactNode {
  return (
    <div className="columns">
      <Field label="API" hint="what it speaks">
        <select
          value={form.dialect}
          onChange={({ target }) =>
            onSet({ dialect: dialects.find((dialect) => dialect === target.value) ?? 'openai' })
          }
        >
          {dialects.map((dialect) => (
            <option key={dialect}>{dialect}</option>
          ))}
        </select>
      </Field>
      <Field label="Address" hint="with the version: …/v1, Gemini’s …/v1beta; Ollama’s without">
        <input
          required
          type="url"
          placeholder="https://api.example.com/v1"
          value={form.baseUrl}
          onChange={({ target }) => onSet({ baseUrl: target.value })}
        />
      </Field>
    </div>
  );
}
