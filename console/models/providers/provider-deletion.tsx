import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { Confirmation } from '../../ui/confirmation.tsx';

/** Deletes a provider that was added here, once that is confirmed. */
export function ProviderDeletion({ name }: { readonly name: string }): ReactNode {
  const [isAsked, setIsAsked] = useState(false);
  const [, navigate] = useLocation();
  const deletion = useChange('gateway', 'DELETE /api/v1/providers/:name');
  const confirm = async () => {
    // The page may be gone with its provider before this is answered.
    await deletion.mutateAsync({ params: { name } });
    navigate('/providers');
  };
  return (
    <>
      <button type="button" className="danger" onClick={() => setIsAsked(true)}>
        Delete
      </button>
      {isAsked ? (
        <Confirmation
          title={`Delete the provider ${name}?`}
          action="Delete"
          change={deletion}
          onConfirm={() => void confirm().catch(() => {})}
          onClose={() => setIsAsked(false)}
        >
          Its settings and keys are gone for good, and its models are asked no more. One of the same
          name in the environment or the file comes back.
        </Confirmation>
      ) : null}
    </>
  );
}
