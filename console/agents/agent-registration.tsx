import { useState, type ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { Field } from '../ui/field.tsx';
import { ModalButton } from '../ui/modal-button.tsx';
import { registrationOf, type RegistrationDraft } from './registration.ts';

/** The way to register an agent by hand. */
export function AgentRegistration(): ReactNode {
  return (
    <Permitted needs="mesh:communicate">
      <ModalButton label="Register an agent" look="primary">
        {(close) => <Form onDone={close} />}
      </ModalButton>
    </Permitted>
  );
}

const empty: RegistrationDraft = {
  agentId: '',
  capabilities: '',
  kind: 'inbox',
  address: '',
  metadata: '',
  heartbeatInterval: '',
  isIdempotent: false,
};

function Form({ onDone }: { readonly onDone: () => void }): ReactNode {
  const [draft, setDraft] = useState(empty);
  const registration = useChange('mesh', 'POST /api/v1/agents/register');
  const register = () =>
    registration.mutate(() => ({ body: registrationOf(draft) }), { onSuccess: onDone });
  return (
    <ChangeForm change={registration} action="Register" onSubmit={register} onCancel={onDone}>
      <Fields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
    </ChangeForm>
  );
}

interface FieldsProps {
  readonly draft: RegistrationDraft;
  readonly onChange: (change: Partial<RegistrationDraft>) => void;
}

function Fields({ draft, onChange }: FieldsProps): ReactNode {
  return (
    <>
      <Field
        label="Id"
        hint={draft.kind === 'card' ? 'the name on the card unless told' : undefined}
      >
        <input
          value={draft.agentId}
          onChange={({ target }) => onChange({ agentId: target.value })}
        />
      </Field>
      <Field label="Capabilities" hint="between commas">
        <input
          value={draft.capabilities}
          onChange={({ target }) => onChange({ capabilities: target.value })}
        />
      </Field>
      <AddressFields draft={draft} onChange={onChange} />
      <Field
        label="Seconds between heartbeats"
        hint="30 unless told; silent for six, it is offline"
      >
        <input
          type="number"
          min={1}
          max={3_600}
          value={draft.heartbeatInterval}
          onChange={({ target }) => onChange({ heartbeatInterval: target.value })}
        />
      </Field>
      <Field label="Metadata" hint="a JSON object">
        <textarea
          className="mono"
          value={draft.metadata}
          onChange={({ target }) => onChange({ metadata: target.value })}
        />
      </Field>
      <label className="row">
        <input
          type="checkbox"
          checked={draft.isIdempotent}
          onChange={({ target }) => onChange({ isIdempotent: target.checked })}
        />
        A task may be given to it twice
      </label>
    </>
  );
}

const ways = {
  inbox: { title: 'It comes for its tasks (inbox)', label: undefined },
  rest: { title: 'HTTP', label: 'Base URL: tasks go to {base}/tasks' },
  grpc: { title: 'gRPC', label: 'host:port' },
  a2a: { title: 'A2A', label: 'Address of its JSON-RPC' },
  card: { title: 'A2A agent card', label: 'Address of the card' },
} as const;

function AddressFields({ draft, onChange }: FieldsProps): ReactNode {
  const { label } = ways[draft.kind];
  return (
    <>
      <Field label="Reached by">
        <select
          value={draft.kind}
          onChange={({ target }) => onChange({ kind: target.value as RegistrationDraft['kind'] })}
        >
          {Object.entries(ways).map(([kind, { title }]) => (
            <option key={kind} value={kind}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      {label ? (
        <Field label={label}>
          <input
            required
            value={draft.address}
            onChange={({ target }) => onChange({ address: target.value })}
          />
        </Field>
      ) : null}
    </>
  );
}
