import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';

const firingsOf = 'GET /api/v1/workflows/:workflowId/triggers/:triggerId/firings';
type Firing = Answer<'workflow', typeof firingsOf>['firings'][number];

const limit = 10;
const everyMs = 5_000;

export interface FiringListProps {
  readonly workflowId: string;
  readonly triggerId: string;
}

/** When a trigger fired in the last 30 days, the newest first, and which executions that began. */
export function FiringList({ workflowId, triggerId }: FiringListProps): ReactNode {
  const [offset, setOffset] = useState(0);
  const firings = useAnswer('workflow', firingsOf, {
    params: { workflowId, triggerId },
    query: { limit, offset },
    everyMs,
  });
  return (
    <Answered query={firings}>
      {({ firings: rows, total }) => (
        <PagedTable
          columns={columnsOf(workflowId)}
          rows={rows}
          keyOf={({ id }) => id}
          {...{ offset, limit, total }}
          onMove={setOffset}
          empty={<p className="faint">It has not fired in the last 30 days.</p>}
        />
      )}
    </Answered>
  );
}

const tones: Readonly<Record<Firing['status'], Tone>> = {
  claimed: 'busy',
  queued: 'busy',
  started: 'good',
  skipped: 'warning',
  failed: 'bad',
};

function columnsOf(workflowId: string): readonly Column<Firing>[] {
  return [
    { title: 'State', cell: ({ status }) => <Badge state={status} tone={tones[status]} /> },
    { title: 'When', cell: ({ at }) => formatAge(at) },
    { title: 'For', cell: ({ key }) => <code>{key}</code> },
    {
      title: 'Execution',
      cell: ({ executionId }) =>
        executionId ? <Link href={`/${workflowId}/executions/${executionId}`}>Open</Link> : '',
    },
    { title: 'Why not', cell: ({ error }) => error ?? '' },
  ];
}
