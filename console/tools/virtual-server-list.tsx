import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Permitted } from '../session/permitted.tsx';
import { Answered } from '../ui/answered.tsx';
import { Badge } from '../ui/badge.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { PagedTable } from '../ui/paged-table.tsx';
import type { Column } from '../ui/table.tsx';
import { useKept } from '../ui/use-kept.ts';
import { ToolsNav } from './tools-nav.tsx';

type VirtualServer = Answer<'registry', 'GET /virtual-servers'>['virtualServers'][number];

const pageSize = 20;

/** Subsets of what all servers offer, each with an address of its own. */
export function VirtualServerList(): ReactNode {
  const [offset, setOffset] = useKept('offset', 0);
  const [, navigate] = useLocation();
  const servers = useAnswer('registry', 'GET /virtual-servers', {
    query: { limit: pageSize, offset },
  });
  return (
    <Page
      title="Tools"
      actions={
        <Permitted needs="registry:write">
          <button
            type="button"
            className="primary"
            onClick={() => navigate('/virtual-servers/new')}
          >
            Make a virtual server
          </button>
        </Permitted>
      }
    >
      <ToolsNav />
      <Answered query={servers}>
        {({ virtualServers, total }) => (
          <PagedTable
            columns={columns}
            rows={virtualServers}
            keyOf={({ id }) => id}
            offset={offset}
            limit={pageSize}
            total={total}
            onMove={setOffset}
            empty={
              <Empty title="No virtual servers yet">
                Make one: it offers some of the tools of all servers, under names of your own.
              </Empty>
            }
          />
        )}
      </Answered>
    </Page>
  );
}

const columns: readonly Column<VirtualServer>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => <Link href={`/virtual-servers/${id}`}>{name}</Link>,
  },
  { title: 'Description', cell: ({ description }) => description },
  {
    title: 'Tools',
    isFigure: true,
    cell: ({ offers }) => <span title={offers.tools.join(', ')}>{offers.tools.length}</span>,
  },
  {
    title: 'Not reached',
    cell: ({ missing }) =>
      missing.length > 0 ? <Badge state={missing.join(', ')} tone="warning" /> : '',
  },
  {
    title: 'Address',
    cell: ({ url }) => (
      <span className="row">
        <code>{url}</code> <CopyButton text={url} />
      </span>
    ),
  },
];
