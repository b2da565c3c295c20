import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount, formatDuration } from '../../ui/text.ts';
import { refreshMs, useProviderStates, type ProviderState } from './provider-health.ts';

/** The providers and how they do. */
export function ProvidersTab(): ReactNode {
  const providers = useAnswer('gateway', 'GET /api/v1/providers', { everyMs: refreshMs });
  const stateOf = useProviderStates();
  const [, navigate] = useLocation();
  return (
    <div className="stack">
      <div className="actions">
        <Permitted needs="gateway:configure">
          <button type="button" className="primary" onClick={() => navigate('/new-provider')}>
            Add a provider
          </button>
        </Permitted>
      </div>
      <Answered query={providers}>
        {(answer) => (
          <Table
            columns={columns}
            rows={answer.providers.map(stateOf)}
            keyOf={({ name }) => name}
            onOpen={({ name }) => navigate(`/providers/${name}`)}
          />
        )}
      </Answered>
    </div>
  );
}

const columns: readonly Column<ProviderState>[] = [
  { title: 'Provider', cell: ({ name }) => <strong>{name}</strong> },
  {
    title: 'Health',
    cell: ({ status, health }) => (
      <>
        <Badge state={status} />
        {health?.error ? <div className="faint">{health.error}</div> : null}
      </>
    ),
  },
  {
    title: 'Circuit',
    cell: ({ openCircuits }) => {
      if (!openCircuits) return '';
      if (openCircuits.length === 0) return <Badge state="closed" tone="good" />;
      const models = openCircuits.map(({ model }) => model).join(', ');
      return <Badge state={`open: ${models}`} tone="bad" />;
    },
  },
  {
    title: 'Available',
    isFigure: true,
    cell: ({ health }) => health && `${Math.round(health.availability * 100)} %`,
  },
  {
    title: 'Latency',
    isFigure: true,
    cell: ({ health, averageLatency }) => {
      const measured = health?.latency ?? averageLatency;
      return measured > 0 ? formatDuration(measured) : '';
    },
  },
  {
    title: 'Requests / min',
    isFigure: true,
    cell: ({ requestsPerMinute }) => formatCount(requestsPerMinute),
  },
  {
    title: 'Limit left',
    isFigure: true,
    cell: ({ rateLimit }) => rateLimit && formatCount(rateLimit.remaining),
  },
  { title: 'Models', isFigure: true, cell: ({ models }) => formatCount(models.length) },
];
