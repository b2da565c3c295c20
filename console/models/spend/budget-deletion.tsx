import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Confirmation } from '../../ui/confirmation.tsx';

/** Ends a budget, once that is confirmed. */
export function BudgetDeletion({ subject }: { readonly subject: string }): ReactNode {
  const [isAsked, setIsAsked] = useState(false);
  const deletion = useChange('gateway', 'DELETE /api/v1/budgets/:subject');
  return (
    <>
      <button type="button" className="danger" onClick={() => setIsAsked(true)}>
        Delete
      </button>
      {isAsked ? (
        <Confirmation
          title={`Delete the budget of ${subject}?`}
          action="Delete"
          change={deletion}
          onConfirm={() =>
            deletion.mutate({ params: { subject } }, { onSuccess: () => setIsAsked(false) })
          }
          onClose={() => setIsAsked(false)}
        >
          It may then spend without a limit.
        </Confirmation>
      ) : null}
    </>
  );
}
