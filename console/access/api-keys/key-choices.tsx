import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Modal } from '../../ui/modal.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { ShownOnce } from '../../ui/shown-once.tsx';
import type { ApiKey } from '../answers.ts';

/** What can be done with a key that is in force. */
export function KeyChoices({ apiKey }: { readonly apiKey: ApiKey }): ReactNode {
  const [asked, setAsked] = useState<'rotate' | 'revoke'>();
  const revocation = useChange('auth', 'DELETE /api/v1/auth/api-keys/:id');
  const close = () => setAsked(undefined);
  const { id, name, ownerId, service } = apiKey;
  return (
    <div className="row">
      <button type="button" aria-label={`Rotate ${name}`} onClick={() => setAsked('rotate')}>
        Rotate
      </button>
      <button
        type="button"
        className="danger"
        aria-label={`Revoke ${name}`}
        onClick={() => setAsked('revoke')}
      >
        Revoke
      </button>
      {asked === 'rotate' ? <RotateDialog apiKey={apiKey} onClose={close} /> : null}
      {asked === 'revoke' ? (
        <Confirmation
          title={`Revoke ${name}?`}
          action="Revoke it"
          change={revocation}
          onConfirm={() => revocation.mutate({ params: { id } }, { onSuccess: close })}
          onClose={close}
        >
          <p>The key and every token that it was traded for end at once, and for good.</p>
          {ownerId.startsWith('usr_') ? null : (
            <p className="notice">
              This key belongs to the suite itself: {service} is shut out without it.
            </p>
          )}
        </Confirmation>
      ) : null}
    </div>
  );
}

interface RotateDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

function RotateDialog({ apiKey: { id, name }, onClose }: RotateDialogProps) {
  const rotation = useChange('auth', 'POST /api/v1/auth/api-keys/:id/rotate');
  const rotate = (form: FormData) => {
    const hours = Number(textOf(form, 'hours'));
    const body = { overlapSeconds: Math.round(hours * 3_600) };
    rotation.mutate({ params: { id }, body });
  };
  return (
    <Modal title={`Rotate ${name}`} onClose={onClose}>
      {rotation.data ? (
        <div className="stack">
          <ShownOnce label="New API key" secret={rotation.data.api_key} />
          <div>
            <button type="button" onClick={onClose}>
              Done
            </button>
          </div>
        </div>
      ) : (
        <ChangeForm
          change={rotation}
          action="Give it a new secret"
          onSubmit={rotate}
          onCancel={onClose}
        >
          <Field label="Hours that the old secret stays good" hint="0 ends all old ones at once.">
            <input
              name="hours"
              type="number"
              min={0}
              max={720}
              step="any"
              required
              defaultValue={24}
            />
          </Field>
        </ChangeForm>
      )}
    </Modal>
  );
}
