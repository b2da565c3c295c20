import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { ModalButton } from '../../ui/modal-button.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import type { ApiKey } from '../answers.ts';

/** What can be done with a key that is in force. */
export function KeyChoices({ apiKey }: { readonly apiKey: ApiKey }): ReactNode {
  const { id, name, ownerId, service } = apiKey;
  const revocation = useChange('auth', 'DELETE /api/v1/auth/api-keys/:id');
  return (
    <div className="row">
      <ModalButton label="Rotate" subject={name}>
        {(close) => <Rotation id={id} onClose={close} />}
      </ModalButton>
      <ConfirmButton
        label="Revoke"
        subject={name}
        action="Revoke it"
        onConfirm={() => revocation.mutateAsync({ params: { id } })}
      >
        <p>The key and every token that it was traded for end at once, and for good.</p>
        {ownerId.startsWith('usr_') ? null : (
          <p className="notice">
            This key belongs to the suite itself: {service} is shut out without it.
          </p>
        )}
      </ConfirmButton>
    </div>
  );
}

interface RotationProps {
  readonly id: string;
  readonly onClose: () => void;
}

function Rotation({ id, onClose }: RotationProps) {
  const rotation = useChange('auth', 'POST /api/v1/auth/api-keys/:id/rotate');
  if (rotation.data) {
    return <ShownOnce label="New API key" secret={rotation.data.api_key} onDone={onClose} />;
  }
  const rotate = (form: FormData) => {
    const hours = Number(textOf(form, 'hours'));
    const body = { overlapSeconds: Math.round(hours * 3_600) };
    rotation.mutate({ params: { id }, body });
  };
  return (
    <ChangeForm
      change={rotation}
      action="Give it a new secret"
      onSubmit={rotate}
      onCancel={onClose}
    >
      <Field label="Hours that the old secret stays good" hint="0 ends all old ones at once.">
        <input name="hours" type="number" min={0} max={720} step="any" required defaultValue={24} />
      </Field>
    </ChangeForm>
  );
}
