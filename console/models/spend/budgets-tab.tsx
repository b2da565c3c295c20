import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Modal } from '../../ui/modal.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { BudgetDeletion } from './budget-deletion.tsx';
import { BudgetForm } from './budget-form.tsx';
import { LimitMeter } from './limit-meter.tsx';
import type { Budget } from './budgets.ts';

const pageSize = 50;

/** What users and keys may take, and how much of it is left. */
export function BudgetsTab(): ReactNode {
  const [offset, setOffset] = useState(0);
  const [isAdding, setIsAdding] = useState(false);
  const budgets = useAnswer('gateway', 'GET /api/v1/budgets', {
    query: { limit: pageSize, offset },
  });
  return (
    <div className="stack">
      <div className="actions">
        <button type="button" className="primary" onClick={() => setIsAdding(true)}>
          Set a budget
        </button>
      </div>
      <Answered query={budgets}>
        {({ budgets: rows, total }) => (
          <>
            <Budgets rows={rows} />
            {total > pageSize ? <Pager {...{ offset, total }} onPage={setOffset} /> : null}
          </>
        )}
      </Answered>
      {isAdding ? (
        <Modal title="Set a budget" onClose={() => setIsAdding(false)}>
          <BudgetForm onClose={() => setIsAdding(false)} />
        </Modal>
      ) : null}
    </div>
  );
}

function Budgets({ rows }: { readonly rows: readonly Budget[] }): ReactNode {
  if (rows.length === 0) {
    return (
      <Empty title="Nobody has a budget">
        <p>
          Everybody may ask for as much as they like. Set a budget to limit what somebody takes.
        </p>
      </Empty>
    );
  }
  return <Table columns={columns} rows={rows} keyOf={({ subject }) => subject} />;
}

const columns: readonly Column<Budget>[] = [
  { title: 'User or key', cell: ({ subject }) => <code>{subject}</code> },
  {
    title: 'Used',
    cell: ({ limits }) =>
      limits.map((limit) => <LimitMeter key={`${limit.unit} ${limit.period}`} limit={limit} />),
  },
  { title: 'Set', cell: ({ updatedAt }) => formatAge(updatedAt) },
  { title: '', cell: (budget) => <BudgetActions budget={budget} /> },
];

function BudgetActions({ budget }: { readonly budget: Budget }): ReactNode {
  const [isChanging, setIsChanging] = useState(false);
  return (
    <div className="actions">
      <button type="button" onClick={() => setIsChanging(true)}>
        Change
      </button>
      <BudgetDeletion subject={budget.subject} />
      {isChanging ? (
        <Modal title={`The budget of ${budget.subject}`} onClose={() => setIsChanging(false)}>
          <BudgetForm budget={budget} onClose={() => setIsChanging(false)} />
        </Modal>
      ) : null}
    </div>
  );
}

interface PagerProps {
  readonly offset: number;
  readonly total: number;
  readonly onPage: (offset: number) => void;
}

function Pager({ offset, total, onPage }: PagerProps): ReactNode {
  return (
    <div className="row">
      <button type="button" disabled={offset === 0} onClick={() => onPage(offset - pageSize)}>
        Back
      </button>
      <button
        type="button"
        disabled={offset + pageSize >= total}
        onClick={() => onPage(offset + pageSize)}
      >
        On
      </button>
    </div>
  );
}
