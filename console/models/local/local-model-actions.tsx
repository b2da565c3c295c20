import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Modal } from '../../ui/modal.tsx';
import { ModelDetails } from './model-details.tsx';

/** Describes a model of this machine, or deletes it. */
export function LocalModelActions({ name }: { readonly name: string }): ReactNode {
  const [open, setOpen] = useState<'details' | 'deletion'>();
  const deletion = useChange('models', 'DELETE /api/delete');
  const close = () => setOpen(undefined);
  return (
    <div className="actions">
      <button type="button" aria-label={`Details of ${name}`} onClick={() => setOpen('details')}>
        Details
      </button>
      <button
        type="button"
        className="danger"
        aria-label={`Delete ${name}`}
        onClick={() => setOpen('deletion')}
      >
        Delete
      </button>
      {open === 'details' ? (
        <Modal title={name} onClose={close}>
          <ModelDetails name={name} />
          <div className="actions">
            <button type="button" onClick={close}>
              Close
            </button>
          </div>
        </Modal>
      ) : null}
      {open === 'deletion' ? (
        <Confirmation
          title={`Delete ${name}?`}
          action="Delete"
          change={deletion}
          onConfirm={() => deletion.mutate({ body: { model: name } }, { onSuccess: close })}
          onClose={close}
        >
          Its file is gone from this machine; it can be pulled again.
        </Confirmation>
      ) : null}
    </div>
  );
}
