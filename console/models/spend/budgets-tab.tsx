import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { BudgetDeletion } from './budget-deletion.tsx';
import { BudgetForm } from './budget-form.tsx';
import { LimitMeter } from './limit-meter.tsx';
import type { Budget } from './budgets.ts';

const pageSize = 50;

/** What users and keys may take, and how much of it is left. */
export function BudgetsTab(): ReactNode {
  const [offset, setOffset] = useState(0);
  const budgets = useAnswer('gateway', 'GET /api/v1/budgets', {
    query: { limit: pageSize, offset },
  });
  return (
    <div className="stack">
      <div className="actions">
        <Permitted needs="gateway:configure">
          <ModalButton label="Set a budget" look="primary">
            {(close) => <BudgetForm onClose={close} />}
          </ModalButton>
        </Permitted>
      </div>
      <Answered query={budgets}>
        {({ budgets: rows, total }) => (
          <PagedTable
            columns={columns}
            rows={rows}
            keyOf={({ subject }) => subject}
            offset={offset}
            limit={pageSize}
            total={total}
            onMove={setOffset}
            empty={
              <Empty title="Nobody has a budget">
                <p>
                  Everybody may ask for as much as they like. Set a budget to limit what somebody
                  takes.
                </p>
              </Empty>
            }
          />
        )}
      </Answered>
    </div>
  );
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
  const { subject } = budget;
  return (
    <div className="actions">
      <ModalButton label="Change" subject={`the budget of ${subject}`}>
        {(close) => <BudgetForm budget={budget} onClose={close} />}
      </ModalButton>
      <BudgetDeletion subject={subject} />
    </div>
  );
}
