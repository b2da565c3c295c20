import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ServiceState } from '../../src/console/contract.ts';
import { send } from '../api/send.ts';
import { Answered } from '../ui/answered.tsx';
import { Badge } from '../ui/badge.tsx';
import { Page } from '../ui/page.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { formatSeconds } from '../ui/text.ts';

const refreshMs = 5_000;

/** All nine services: where they are and how they are. */
export function OverviewPage(): ReactNode {
  const states = useQuery({
    queryKey: ['status'],
    queryFn: readStates,
    refetchInterval: refreshMs,
  });
  return (
    <Page title="Overview">
      <Answered query={states}>
        {(services) => <Table columns={columns} rows={services} keyOf={({ name }) => name} />}
      </Answered>
    </Page>
  );
}

async function readStates(): Promise<readonly ServiceState[]> {
  const response = await send(new Request('/status.json'));
  return ((await response.json()) as { services: readonly ServiceState[] }).services;
}

const columns: readonly Column<ServiceState>[] = [
  { title: 'Service', cell: ({ title }) => title },
  {
    title: 'Health',
    cell: ({ status, error }) => (
      <Badge state={error ? `${status}: ${error}` : status} {...(error ? { tone: 'bad' } : {})} />
    ),
  },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Up', cell: ({ uptime }) => (uptime === undefined ? '' : formatSeconds(uptime)) },
  { title: 'Address', cell: ({ url }) => <code>{url}</code> },
  {
    title: '',
    cell: ({ url }) => (
      <a href={`${url}/docs`} target="_blank" rel="noreferrer">
        API
      </a>
    ),
  },
];
