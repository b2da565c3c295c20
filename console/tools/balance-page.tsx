import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Answered } from '../ui/answered.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { formatCount, formatDuration, formatShare } from '../ui/text.ts';
import { CapabilityTable } from './capability-table.tsx';
import { ConnectionState } from './connection-state.tsx';
import { Recommendations } from './recommendations.tsx';
import { ToolsNav } from './tools-nav.tsx';

type Distribution = Answer<'registry', 'GET /load-balancing/distribution'>;
type Share = Distribution['connections'][number];
type Statistics = Answer<'registry', 'GET /registry/stats'>;

const refreshMs = 3_000;
const shownMax = 100;

/** Who has how much to do, what follows from it, and what is asked for most. */
export function BalancePage(): ReactNode {
  const statistics = useAnswer('registry', 'GET /registry/stats', { everyMs: refreshMs });
  const distribution = useAnswer('registry', 'GET /load-balancing/distribution', {
    query: { limit: shownMax },
    everyMs: refreshMs,
  });
  return (
    <Page title="Tools">
      <ToolsNav />
      <Answered query={statistics}>{(counted) => <Figures statistics={counted} />}</Answered>
      <Answered query={distribution}>
        {({ connections, recommendations, strategy }) => (
          <>
            <section className="stack">
              <h2>Recommendations</h2>
              <Recommendations recommendations={recommendations} />
            </section>
            <section className="stack">
              <h2>Load</h2>
              <p className="faint flat">
                The busiest first. Where nothing else is asked for, calls go by {strategy}.
              </p>
              <Shares shares={connections} />
            </section>
          </>
        )}
      </Answered>
      <CapabilityTable />
    </Page>
  );
}

function Figures({ statistics }: { readonly statistics: Statistics }): ReactNode {
  const { connections, performance, capabilities } = statistics;
  const figures: readonly (readonly [name: string, figure: string])[] = [
    ['active or idle', formatCount(connections.active + connections.idle)],
    ['in error', formatCount(connections.error)],
    ['capabilities', formatCount(capabilities.total)],
    ['calls a second', performance.requestsPerSecond.toFixed(2)],
    ['latency on average', formatDuration(performance.averageLatency)],
    ['of calls failed', formatShare(performance.errorRate)],
  ];
  return (
    <div className="cards figures">
      {figures.map(([name, figure]) => (
        <div key={name} className="card figure-card">
          <strong>{figure}</strong>
          <span className="faint">{name}</span>
        </div>
      ))}
    </div>
  );
}

function Shares({ shares }: { readonly shares: readonly Share[] }): ReactNode {
  if (shares.length === 0) {
    return <Empty title="Nothing to balance">Register a server first.</Empty>;
  }
  return <Table columns={columns} rows={shares} keyOf={({ id }) => id} />;
}

const columns: readonly Column<Share>[] = [
  { title: 'Connection', cell: ({ id, name }) => <Link href={`/${id}`}>{name}</Link> },
  { title: 'Status', cell: ({ status }) => <ConnectionState status={status} /> },
  {
    title: 'Load',
    cell: ({ load, activeRequests, capacity }) => (
      <span className="row share">
        <meter min={0} max={1} high={0.9} value={Math.min(1, load)} aria-label="Load" />
        {activeRequests} of {capacity}
      </span>
    ),
  },
  { title: 'Weight', isFigure: true, cell: ({ weight }) => weight },
  { title: 'Calls a minute', isFigure: true, cell: ({ requestsPerMinute }) => requestsPerMinute },
  { title: 'Latency', isFigure: true, cell: ({ averageLatency }) => timeOf(averageLatency) },
  { title: '95 % within', isFigure: true, cell: ({ p95Latency }) => timeOf(p95Latency) },
  { title: 'Failed', isFigure: true, cell: ({ errorRate }) => formatShare(errorRate) },
  {
    title: 'Set aside',
    cell: ({ ejectedUntil }) =>
      ejectedUntil ? `until ${new Date(ejectedUntil).toLocaleTimeString()}` : '',
  },
];

/** Zero means that there was no call. */
function timeOf(ms: number): string {
  return ms > 0 ? formatDuration(ms) : '';
}
