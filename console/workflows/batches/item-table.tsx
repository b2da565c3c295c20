import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge, formatCount } from '../../ui/text.ts';
import { useKept } from '../../ui/use-kept.ts';
import { ShortId } from '../parts/short-id.tsx';
import { StatusChoice } from '../parts/status-choice.tsx';
import { itemStatuses, type BatchItem } from './batch.ts';

export interface ItemTableProps {
  readonly batchId: string;
  readonly workflowId: string;
}

const limit = 50;
const everyMs = 2_000;

/** The items of a batch in their order, and what came of each. */
export function ItemTable({ batchId, workflowId }: ItemTableProps): ReactNode {
  const [status, setStatus] = useKept<BatchItem['status'] | undefined>('status', undefined);
  const [offset, setOffset] = useKept('offset', 0);
  const items = useAnswer('workflow', 'GET /api/v1/batches/:batchId/items', {
    params: { batchId },
    query: { limit, offset, ...(status === undefined ? {} : { status }) },
    everyMs,
  });
  const choose = (chosen: typeof status) => {
    setStatus(chosen);
    setOffset(0);
  };
  return (
    <section className="stack" aria-label="Items">
      <div className="row workflow-filters">
        <h2>Items</h2>
        <StatusChoice statuses={itemStatuses} chosen={status} onChoose={choose} />
      </div>
      <Answered query={items}>
        {({ items: rows, total }) => (
          <PagedTable
            columns={columnsOf(workflowId)}
            rows={rows}
            keyOf={({ index }) => String(index)}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={<Empty title="No item is in this state" />}
          />
        )}
      </Answered>
    </section>
  );
}

function columnsOf(workflowId: string): readonly Column<BatchItem>[] {
  return [
    { title: 'Item', cell: ({ index }) => formatCount(index + 1), isFigure: true },
    { title: 'State', cell: ({ status }) => <Badge state={status} /> },
    {
      title: 'Execution',
      cell: ({ executionId }) =>
        executionId === undefined ? (
          ''
        ) : (
          <Link href={`/${workflowId}/executions/${executionId}`}>
            <ShortId id={executionId} />
          </Link>
        ),
    },
    { title: 'Ended', cell: ({ completedAt }) => (completedAt ? formatAge(completedAt) : '') },
    {
      title: 'Error',
      cell: ({ error }) =>
        error ? `${error.nodeId ? `${error.nodeId}: ` : ''}${error.message}` : '',
    },
  ];
}
