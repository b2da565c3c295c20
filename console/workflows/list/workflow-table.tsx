import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { Badge } from '../../ui/badge.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { Confirmation } from '../../ui/confirmation.tsx';
import type { Workflow } from './workflow-list-page.tsx';

/** Workflows one below the other; a row opens its editor. */
export function WorkflowTable({
  workflows,
}: {
  readonly workflows: readonly Workflow[];
}): ReactNode {
  const [, navigate] = useLocation();
  const [archived, setArchived] = useState<Workflow>();
  return (
    <div className="workflow-scroll">
      <Table
        columns={[...columns, actions(setArchived)]}
        rows={workflows}
        keyOf={({ id }) => id}
        onOpen={({ id }) => navigate(`/${id}`)}
      />
      {archived ? <Archiving workflow={archived} onClose={() => setArchived(undefined)} /> : null}
    </div>
  );
}

const columns: readonly Column<Workflow>[] = [
  {
    title: 'Name',
    cell: ({ id, name, description }) => (
      <>
        <Link href={`/${id}`} onClick={(event) => event.stopPropagation()}>
          {name}
        </Link>
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
];

function actions(onArchive: (workflow: Workflow) => void): Column<Workflow> {
  return {
    title: '',
    cell: (workflow) => (
      <div className="row workflow-end">
        <Link
          href={`/${workflow.id}/triggers`}
          onClick={(event) => event.stopPropagation()}
          aria-label={`Triggers of ${workflow.name}`}
        >
          Triggers
        </Link>
        <Link
          href={`/${workflow.id}/executions`}
          onClick={(event) => event.stopPropagation()}
          aria-label={`Executions of ${workflow.name}`}
        >
          Executions
        </Link>
        {workflow.status === 'archived' ? null : (
          <button
            type="button"
            className="quiet"
            aria-label={`Archive ${workflow.name}`}
            onClick={(event) => {
              event.stopPropagation();
              onArchive(workflow);
            }}
          >
            Archive
          </button>
        )}
      </div>
    ),
  };
}

interface ArchivingProps {
  readonly workflow: Workflow;
  readonly onClose: () => void;
}

function Archiving({ workflow: { id, name }, onClose }: ArchivingProps) {
  const archive = useChange('workflow', 'DELETE /api/v1/workflows/:id');
  return (
    <Confirmation
      title={`Archive ${name}?`}
      action="Archive"
      change={archive}
      onConfirm={() => archive.mutate({ params: { id } }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        It takes no new executions, and its triggers start nothing. What runs goes on, and what ran
        stays. Publishing it makes it active again.
      </p>
    </Confirmation>
  );
}
