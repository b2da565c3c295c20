import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge, formatDollars, formatDuration } from '../../ui/text.ts';
import { useKept } from '../../ui/use-kept.ts';
import { ShortId } from '../parts/short-id.tsx';
import { StatusChoice } from '../parts/status-choice.tsx';
import { WorkflowLink } from '../parts/workflow-link.tsx';
import { WorkflowsNav } from '../parts/workflows-nav.tsx';
import { batchStatuses, type Batch } from './batch.ts';
import { BatchProgress } from './batch-progress.tsx';
import { NewBatchButton } from './new-batch.tsx';

const limit = 20;
const everyMs = 3_000;

/** Batches, the newest first: of one workflow, or of all. */
export function BatchListPage({ workflowId }: { readonly workflowId?: string }): ReactNode {
  const [status, setStatus] = useKept<Batch['status'] | undefined>('status', undefined);
  const [offset, setOffset] = useKept('offset', 0);
  const [, navigate] = useLocation();
  const query = {
    limit,
    offset,
    ...(status === undefined ? {} : { status }),
    ...(workflowId === undefined ? {} : { workflowId }),
  };
  const batches = useAnswer('workflow', 'GET /api/v1/batches', { query, everyMs });
  const choose = (chosen: typeof status) => {
    setStatus(chosen);
    setOffset(0);
  };
  return (
    <Page
      title={<Title workflowId={workflowId} />}
      actions={
        <>
          <StatusChoice statuses={batchStatuses} chosen={status} onChoose={choose} />
          {workflowId === undefined ? null : <Ways workflowId={workflowId} />}
        </>
      }
    >
      {workflowId === undefined ? <WorkflowsNav /> : null}
      <Answered query={batches}>
        {({ batches: rows, total }) => (
          <PagedTable
            columns={workflowId === undefined ? [workflowColumn, ...columns] : columns}
            rows={rows}
            keyOf={({ batchId }) => batchId}
            onOpen={(batch) => navigate(pathOf(batch))}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={<NoBatches isFiltered={status !== undefined} />}
          />
        )}
      </Answered>
    </Page>
  );
}

function Title({ workflowId }: { readonly workflowId: string | undefined }) {
  if (workflowId === undefined) return 'Workflows';
  return (
    <>
      Batches of <WorkflowLink id={workflowId} />
    </>
  );
}

function Ways({ workflowId }: { readonly workflowId: string }) {
  return (
    <>
      <Link href="/batches">Of all workflows</Link>
      <NewBatchButton workflowId={workflowId} />
    </>
  );
}

function NoBatches({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No batch is in this state" />;
  return (
    <Empty title="No batch yet">
      <p>A batch runs one workflow for many inputs, and goes on whatever dies meanwhile.</p>
    </Empty>
  );
}

function pathOf({ workflowId, batchId }: Batch): string {
  return `/${workflowId}/batches/${batchId}`;
}

const workflowColumn: Column<Batch> = {
  title: 'Workflow',
  cell: ({ workflowId }) => <WorkflowLink id={workflowId} />,
};

const columns: readonly Column<Batch>[] = [
  { title: 'State', cell: ({ status }) => <Badge state={status} /> },
  {
    title: 'Batch',
    cell: (batch) => (
      <Link href={pathOf(batch)}>
        <ShortId id={batch.batchId} />
      </Link>
    ),
  },
  { title: 'Items', cell: (batch) => <BatchProgress batch={batch} /> },
  { title: 'Version', cell: ({ version }) => version, isFigure: true },
  { title: 'Started', cell: ({ createdAt }) => formatAge(createdAt) },
  {
    title: 'Took',
    cell: ({ duration }) => (duration === undefined ? '' : formatDuration(duration)),
    isFigure: true,
  },
  { title: 'Cost', cell: ({ cost }) => (cost > 0 ? formatDollars(cost) : ''), isFigure: true },
];
