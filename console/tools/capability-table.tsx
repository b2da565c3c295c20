import { useState, type ReactNode } from 'react';
import { useAnswer } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Answered } from '../ui/answered.tsx';
import { Empty } from '../ui/empty.tsx';
import { PagedTable } from '../ui/paged-table.tsx';
import type { Column } from '../ui/table.tsx';
import { formatCount, formatDuration } from '../ui/text.ts';
import { useSettled } from '../ui/use-settled.ts';

type Capability = Answer<'registry', 'GET /capabilities'>['capabilities'][number];

const pageSize = 25;
const refreshMs = 5_000;

/** What connections declare and offer, by name, and how much it is asked for. */
export function CapabilityTable(): ReactNode {
  const [search, setSearch] = useState('');
  const [offset, setOffset] = useState(0);
  const wanted = useSettled(search.trim());
  const capabilities = useAnswer('registry', 'GET /capabilities', {
    query: { limit: pageSize, offset, ...(wanted ? { q: wanted } : {}) },
    everyMs: refreshMs,
  });
  return (
    <section className="stack">
      <div className="row">
        <h2>Capabilities</h2>
        <input
          type="search"
          className="push narrow"
          aria-label="Search capabilities"
          placeholder="Search"
          value={search}
          onChange={({ target }) => {
            setSearch(target.value);
            setOffset(0);
          }}
        />
      </div>
      <Answered query={capabilities}>
        {({ capabilities: rows, totalCapabilities }) => (
          <PagedTable
            columns={columns}
            rows={rows}
            keyOf={({ name }) => name}
            offset={offset}
            limit={pageSize}
            total={totalCapabilities}
            onMove={setOffset}
            empty={
              <Empty title="No capability">
                {wanted ? 'Nothing has this in its name or description.' : 'No server offers any.'}
              </Empty>
            }
          />
        )}
      </Answered>
    </section>
  );
}

const columns: readonly Column<Capability>[] = [
  { title: 'Capability', cell: ({ name }) => <code>{name}</code> },
  {
    title: 'Description',
    cell: ({ description }) => <span className="clipped">{description}</span>,
  },
  { title: 'Providers', isFigure: true, cell: ({ providers }) => formatCount(providers) },
  { title: 'Calls', isFigure: true, cell: ({ totalRequests }) => formatCount(totalRequests) },
  {
    title: 'Latency',
    isFigure: true,
    cell: ({ averageLatency }) => (averageLatency > 0 ? formatDuration(averageLatency) : ''),
  },
];
