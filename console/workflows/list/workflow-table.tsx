import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';

export type Workflow = Answer<'workflow', 'GET /api/v1/workflows'>['workflows'][number];

/** Workflows one below the other; a row opens its editor. */
export function WorkflowTable({
  workflows,
}: {
  readonly workflows: readonly Workflow[];
}): ReactNode {
  const [, navigate] = useLocation();
  return (
    <Table
      columns={columns}
      rows={workflows}
      keyOf={({ id }) => id}
      onOpen={({ id }) => navigate(`/${id}`)}
    />
  );
}

const columns: readonly Column<Workflow>[] = [
  {
    title: 'Name',
    cell: ({ id, name, description }) => (
      <>
        <Link href={`/${id}`}>{name}</Link>
        {description ? <div className="faint workflow-line">{description}</div> : null}
      </>
    ),
  },
  { title: 'Status', cell: ({ status }) => <Badge state={status} /> },
  {
    title: 'Version',
    cell: ({ version, latestVersion, status }) =>
      latestVersion > version && status !== 'draft' ? (
        <>
          {version} <span className="faint">(draft {latestVersion})</span>
        </>
      ) : (
        version
      ),
  },
  { title: 'Steps', cell: ({ components }) => components, isFigure: true },
  { title: 'Tags', cell: ({ tags }) => <span className="faint">{tags.join(', ')}</span> },
  { title: 'Changed', cell: ({ updatedAt }) => formatAge(updatedAt) },
  { title: '', cell: (workflow) => <Actions workflow={workflow} /> },
];

function Actions({ workflow: { id, name, status } }: { readonly workflow: Workflow }) {
  return (
    <div className="row workflow-end">
      <Link href={`/${id}/triggers`} aria-label={`Triggers of ${name}`}>
        Triggers
      </Link>
      <Link href={`/${id}/executions`} aria-label={`Executions of ${name}`}>
        Executions
      </Link>
      {status === 'archived' ? null : <Archiving id={id} name={name} />}
    </div>
  );
}

function Archiving({ id, name }: Pick<Workflow, 'id' | 'name'>) {
  const archive = useChange('workflow', 'DELETE /api/v1/workflows/:id');
  return (
    <Permitted needs="workflow:create">
      <ConfirmButton
        label="Archive"
        subject={name}
        onConfirm={() => archive.mutateAsync({ params: { id } })}
      >
        <p>
          It takes no new executions, and its triggers start nothing. What runs goes on, and what
          ran stays. Publishing it makes it active again.
        </p>
      </ConfirmButton>
    </Permitted>
  );
}
