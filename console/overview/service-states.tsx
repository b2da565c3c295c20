import type { ReactNode } from 'react';
import type { ServiceState } from '../../src/console/contract.ts';
import { Answered } from '../ui/answered.tsx';
import { Badge } from '../ui/badge.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { formatSeconds } from '../ui/text.ts';
import { useServiceStates } from './states.ts';

/** All nine services: where they are and how they are. */
export function ServiceStates(): ReactNode {
  const states = useServiceStates();
  return (
    <section className="section" aria-labelledby="services">
      <h2 id="services">Services</h2>
      <Answered query={states}>
        {(services) => <Table columns={columns} rows={services} keyOf={({ name }) => name} />}
      </Answered>
    </section>
  );
}

const columns: readonly Column<ServiceState>[] = [
  { title: 'Service', cell: ({ title }) => title },
  { title: 'Health', cell: (state) => <Health {...state} /> },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Up', cell: ({ uptime }) => (uptime === undefined ? '' : formatSeconds(uptime)) },
  { title: 'Address', cell: ({ url }) => <code>{url}</code> },
  {
    title: 'API',
    cell: ({ url, title }) => (
      <a
        href={`${url}/docs`}
        target="_blank"
        rel="noreferrer"
        aria-label={`Documentation of ${title}`}
      >
        Documentation
      </a>
    ),
  },
];

function Health({ status, error }: ServiceState): ReactNode {
  if (error === undefined) return <Badge state={status} />;
  return <Badge state={`${status}: ${error}`} tone="bad" />;
}
