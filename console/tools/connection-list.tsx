import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Answered } from '../ui/answered.tsx';
import { Empty } from '../ui/empty.tsx';
import { LiveBadge } from '../ui/live-badge.tsx';
import { Page } from '../ui/page.tsx';
import { PagedTable } from '../ui/paged-table.tsx';
import type { Column } from '../ui/table.tsx';
import { formatDuration } from '../ui/text.ts';
import { useSettled } from '../ui/use-settled.ts';
import { useKept } from '../ui/use-kept.ts';
import { ConnectionFilters, noFilters, queryOf, type Filters } from './connection-filters.tsx';
import { ConnectionForm } from './connection-form.tsx';
import { ConnectionState, Health } from './connection-state.tsx';
import { ExportButton } from './export-button.tsx';
import { ImportButton } from './import-button.tsx';
import { ToolsNav } from './tools-nav.tsx';
import { useRegistryNews } from './use-registry-news.ts';

type Connection = Answer<'registry', 'GET /connections'>['connections'][number];

const pageSize = 25;
/** What the stream does not tell: how much there is to do. */
const refreshMs = 5_000;

/** All MCP servers and clients that are known, live. */
export function ConnectionList(): ReactNode {
  const [filters, setFilters] = useKept<Filters>('filters', noFilters);
  const [offset, setOffset] = useKept('offset', 0);
  const [, navigate] = useLocation();
  const news = useRegistryNews();
  const loads = useLoads();
  const query = { limit: pageSize, offset, ...queryOf(useSettled(filters)) };
  const connections = useAnswer('registry', 'GET /connections', { query, everyMs: refreshMs });
  return (
    <Page
      title="Tools"
      actions={
        <>
          <LiveBadge state={news} />
          <ImportButton />
          <ExportButton />
          <ConnectionForm />
        </>
      }
    >
      <ToolsNav />
      <ConnectionFilters
        filters={filters}
        onChange={(changed) => {
          setFilters(changed);
          setOffset(0);
        }}
      />
      <Answered query={connections}>
        {({ connections: rows, total, filtered }) => (
          <PagedTable
            columns={columnsOf(loads)}
            rows={rows}
            keyOf={({ id }) => id}
            onOpen={({ id }) => navigate(`/${id}`)}
            offset={offset}
            limit={pageSize}
            total={filtered}
            onMove={setOffset}
            empty={<NoConnections isFiltered={total > 0} />}
          />
        )}
      </Answered>
    </Page>
  );
}

/** How busy connections are, by id. */
function useLoads(): ReadonlyMap<string, number> {
  const { data } = useAnswer('registry', 'GET /load-balancing/distribution', {
    everyMs: refreshMs,
  });
  return new Map(data?.connections.map(({ id, load }) => [id, load]));
}

function NoConnections({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  if (isFiltered) {
    return <Empty title="No connection matches">Clear a filter to see the others.</Empty>;
  }
  return (
    <Empty title="No connections yet">
      Register an MCP server, or import the <code>mcp.json</code> of Claude, Cursor or VS Code.
    </Empty>
  );
}

function columnsOf(loads: ReadonlyMap<string, number>): readonly Column<Connection>[] {
  return [
    { title: 'Name', cell: ({ id, name }) => <Link href={`/${id}`}>{name}</Link> },
    {
      title: 'Protocol',
      cell: ({ protocol, type }) => (type === 'client' ? `${protocol}, a client` : protocol),
    },
    { title: 'Status', cell: ({ status }) => <ConnectionState status={status} /> },
    {
      title: 'Health',
      cell: ({ health, status }) =>
        status === 'disconnected' ? '' : <Health status={health.status} reason={health.reason} />,
    },
    {
      title: 'Capabilities',
      isFigure: true,
      cell: ({ capabilities }) => (
        <span title={capabilities.slice(0, 50).join(', ')}>{capabilities.length}</span>
      ),
    },
    {
      title: 'Load',
      isFigure: true,
      cell: ({ id }) => {
        const load = loads.get(id);
        return load === undefined ? '' : `${Math.round(load * 100)} %`;
      },
    },
    {
      title: 'Calls a minute',
      isFigure: true,
      cell: ({ metrics }) => metrics.requestsPerMinute,
    },
    {
      title: 'Latency',
      isFigure: true,
      cell: ({ metrics: { averageLatency } }) =>
        averageLatency > 0 ? formatDuration(averageLatency) : '',
    },
  ];
}
