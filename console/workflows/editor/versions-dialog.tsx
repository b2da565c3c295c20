import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { Modal } from '../../ui/modal.tsx';
import { Pager } from '../../ui/pager.tsx';
import type { Storing } from './use-storing.ts';

type Version = Answer<'workflow', 'GET /api/v1/workflows/:id/versions'>['versions'][number];

export interface VersionsDialogProps {
  readonly storing: Storing;
  readonly onClose: () => void;
}

const limit = 10;

/** The versions of a workflow; one that was published can be run again by new executions. */
export function VersionsDialog({ storing, onClose }: VersionsDialogProps): ReactNode {
  const [offset, setOffset] = useState(0);
  const id = storing.facts?.id ?? '';
  const input = { params: { id }, query: { limit, offset } };
  const versions = useAnswer('workflow', 'GET /api/v1/workflows/:id/versions', input);
  const rollBack = useChange('workflow', 'POST /api/v1/workflows/:id/rollback');
  const actions = actionColumn(rollBack.isPending, (version) =>
    rollBack.mutate({ params: { id }, body: { version } }, { onSuccess: storing.noteFacts }),
  );
  return (
    <Modal title="Versions" onClose={onClose}>
      <Answered query={versions}>
        {({ versions: rows, total }) => (
          <>
            <Table
              columns={[...columns, actions]}
              rows={rows}
              keyOf={({ version }) => String(version)}
            />
            <Pager {...{ offset, limit, total }} onMove={setOffset} />
          </>
        )}
      </Answered>
      <p className="faint">
        Rolling back changes what new executions run. The canvas keeps the newest version.
      </p>
      {rollBack.error ? <Problem error={rollBack.error} /> : null}
      <div className="row workflow-end">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}

const columns: readonly Column<Version>[] = [
  { title: 'Version', cell: ({ version }) => version },
  {
    title: 'Status',
    cell: ({ status, isCurrent }) => (
      <Badge state={isCurrent ? 'current' : status} tone={isCurrent ? 'good' : 'neutral'} />
    ),
  },
  { title: 'Steps', cell: ({ components }) => components, isFigure: true },
  { title: 'Made', cell: ({ createdAt }) => formatAge(createdAt) },
];

function actionColumn(isBusy: boolean, onRollBack: (version: number) => void): Column<Version> {
  return {
    title: '',
    cell: ({ version, status, isCurrent }) =>
      status === 'published' && !isCurrent ? (
        <Permitted needs="workflow:create">
          <button type="button" disabled={isBusy} onClick={() => onRollBack(version)}>
            Roll back to {version}
          </button>
        </Permitted>
      ) : null,
  };
}
