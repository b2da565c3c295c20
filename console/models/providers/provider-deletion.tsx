import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { ConfirmButton } from '../../ui/confirm-button.tsx';

/** Deletes a provider that was added here, once that is confirmed. */
export function ProviderDeletion({ name }: { readonly name: string }): ReactNode {
  const [, navigate] = useLocation();
  const deletion = useChange('gateway', 'DELETE /api/v1/providers/:name', {
    onDone: () => navigate('/providers'),
  });
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete the provider ${name}?`}
      onConfirm={() => deletion.mutateAsync({ params: { name } })}
    >
      Its settings and keys are gone for good, and its models are asked no more. One of the same
      name in the environment or the file comes back.
    </ConfirmButton>
  );
}
