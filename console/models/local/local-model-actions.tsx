import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { ModelDetails } from './model-details.tsx';

interface LocalModelActionsProps {
  readonly name: string;
  /** Whether it can be deleted. */
  readonly isRemovable: boolean;
}

/** Describes a model of this machine, or deletes it. */
export function LocalModelActions({ name, isRemovable }: LocalModelActionsProps): ReactNode {
  const deletion = useChange('models', 'DELETE /api/delete');
  return (
    <div className="actions">
      <ModalButton label="Details" subject={`of ${name}`} title={name}>
        {(close) => (
          <>
            <ModelDetails name={name} />
            <div className="row">
              <button type="button" onClick={close}>
                Close
              </button>
            </div>
          </>
        )}
      </ModalButton>
      {isRemovable ? (
        <Permitted needs="models:manage">
          <ConfirmButton
            label="Delete"
            subject={name}
            onConfirm={() => deletion.mutateAsync({ body: { model: name } })}
          >
            Its file is gone from this machine; it can be pulled again.
          </ConfirmButton>
        </Permitted>
      ) : null}
    </div>
  );
}
