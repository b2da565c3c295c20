import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ConfirmButton } from '../../ui/confirm-button.tsx';

/** Ends a budget, once that is confirmed. */
export function BudgetDeletion({ subject }: { readonly subject: string }): ReactNode {
  const deletion = useChange('gateway', 'DELETE /api/v1/budgets/:subject');
  return (
    <ConfirmButton
      label="Delete"
      subject={`the budget of ${subject}`}
      onConfirm={() => deletion.mutateAsync({ params: { subject } })}
    >
      It may then spend without a limit.
    </ConfirmButton>
  );
}
