import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge, formatCount, formatDollars, formatDuration } from '../../ui/text.ts';
import { PagedTable } from '../../ui/paged-table.tsx';
import { useKept } from '../../ui/use-kept.ts';
import { ShortId } from '../parts/short-id.tsx';
import { StatusChoice } from '../parts/status-choice.tsx';
import { WorkflowLink } from '../parts/workflow-link.tsx';
import { WorkflowsNav } from '../parts/workflows-nav.tsx';

type Summary = Answer<'workflow', 'GET /api/v1/executions'>['executions'][number];

const limit = 20;
const refreshMs = 3_000;
const statuses = ['running', 'completed', 'failed', 'cancelled'] as const;

/** Executions, the newest first: of one workflow, or of all. */
export function ExecutionListPage({ workflowId }: { readonly workflowId?: string }): ReactNode {
  const [status, setStatus] = useKept<Summary['status'] | undefined>('status', undefined);
  const [offset, setOffset] = useKept('offset', 0);
  const [, navigate] = useLocation();
  const filter = {
    limit,
    offset,
    ...(status === undefined ? {} : { status }),
    ...(workflowId === undefined ? {} : { workflowId }),
  };
  const executions = useAnswer('workflow', 'GET /api/v1/executions', {
    query: filter,
    everyMs: refreshMs,
  });
  const choose = (chosen: typeof status) => {
    setStatus(chosen);
    setOffset(0);
  };
  const hasOne = workflowId !== undefined;
  return (
    <Page
      title={<Title workflowId={workflowId} />}
      actions={
        <>
          <StatusChoice statuses={statuses} chosen={status} onChoose={choose} />
          {hasOne ? (
            <>
              <Link href={`/${workflowId}/batches`}>Batches</Link>
              <Link href="/executions">Of all workflows</Link>
            </>
          ) : null}
        </>
      }
    >
      {hasOne ? null : <WorkflowsNav />}
      <Answered query={executions}>
        {({ executions: rows, total }) => (
          <PagedTable
            columns={hasOne ? columns : [workflowColumn, ...columns]}
            rows={rows}
            keyOf={({ executionId }) => executionId}
            onOpen={(row) => navigate(`/${row.workflowId}/executions/${row.executionId}`)}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={<NoExecutions isFiltered={status !== undefined} workflowId={workflowId} />}
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
      Executions of <WorkflowLink id={workflowId} />
    </>
  );
}

interface NoExecutionsProps {
  readonly isFiltered: boolean;
  readonly workflowId: string | undefined;
}

function NoExecutions({ isFiltered, workflowId }: NoExecutionsProps) {
  if (isFiltered) return <Empty title="No execution is in this state" />;
  return (
    <Empty title="Nothing was run yet">
      <p>
        {workflowId === undefined ? (
          <>
            Open a <Link href="/">workflow</Link> and run it.
          </>
        ) : (
          <>
            <Link href={`/${workflowId}`}>Open the workflow</Link> and run it.
          </>
        )}
      </p>
    </Empty>
  );
}

const workflowColumn: Column<Summary> = {
  title: 'Workflow',
  cell: ({ workflowId }) => <WorkflowLink id={workflowId} />,
};

const columns: readonly Column<Summary>[] = [
  { title: 'State', cell: ({ status }) => <Badge state={status} /> },
  {
    title: 'Execution',
    cell: ({ executionId, workflowId }) => (
      <Link href={`/${workflowId}/executions/${executionId}`}>
        <ShortId id={executionId} />
      </Link>
    ),
  },
  { title: 'Version', cell: ({ version }) => version, isFigure: true },
  { title: 'By', cell: ({ trigger }) => trigger },
  { title: 'Started', cell: ({ startedAt }) => formatAge(startedAt) },
  {
    title: 'Took',
    cell: ({ duration }) => (duration === undefined ? '' : formatDuration(duration)),
    isFigure: true,
  },
  {
    title: 'Tokens',
    cell: ({ tokensUsed }) => (tokensUsed > 0 ? formatCount(tokensUsed) : ''),
    isFigure: true,
  },
  { title: 'Cost', cell: ({ cost }) => (cost > 0 ? formatDollars(cost) : ''), isFigure: true },
  { title: 'Error', cell: ({ error }) => error?.message ?? '' },
];
