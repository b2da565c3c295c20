import { useState, type ReactNode } from 'react';
import { useAnswer } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Answered } from '../ui/answered.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { PagedTable } from '../ui/paged-table.tsx';
import type { Column } from '../ui/table.tsx';
import { formatAge } from '../ui/text.ts';

type Change = Answer<'registry', 'GET /connections/:connectionId/history'>['changes'][number];

const pageSize = 10;

/** What happened to a connection, the newest first. */
export function ConnectionHistory({ connectionId }: { readonly connectionId: string }): ReactNode {
  const [offset, setOffset] = useState(0);
  const history = useAnswer('registry', 'GET /connections/:connectionId/history', {
    params: { connectionId },
    query: { limit: pageSize, offset },
  });
  return (
    <section className="stack">
      <h2>History</h2>
      <Answered query={history}>
        {({ changes, total }) => (
          <PagedTable
            columns={columns}
            rows={changes}
            keyOf={keyOf}
            offset={offset}
            limit={pageSize}
            total={total}
            onMove={setOffset}
            empty={<p className="faint flat">Nothing that is still kept.</p>}
          />
        )}
      </Answered>
    </section>
  );
}

function keyOf(change: Change): string {
  return JSON.stringify(change);
}

const columns: readonly Column<Change>[] = [
  {
    title: 'When',
    cell: ({ timestamp }) => <time title={timestamp}>{formatAge(timestamp)}</time>,
  },
  { title: 'What', cell: ({ change }) => change },
  {
    title: 'How',
    cell: ({ before, after, reason }) => (
      <>
        {[before, after].filter(Boolean).join(' → ')} {reason ? `(${reason})` : ''}
      </>
    ),
  },
  {
    title: 'By',
    cell: ({ by }) =>
      by ? <span className="id">{by}</span> : <span className="faint">the registry</span>,
  },
  {
    title: 'More',
    cell: ({ detail }) =>
      detail ? (
        <details>
          <summary>detail</summary>
          <JsonView value={detail} />
        </details>
      ) : null,
  },
];
