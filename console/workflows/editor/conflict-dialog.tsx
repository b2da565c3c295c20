import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { formatAge } from '../../ui/text.ts';
import { Modal } from '../../ui/modal.tsx';
import type { Storing } from './use-storing.ts';

export interface ConflictDialogProps {
  readonly storing: Storing;
  readonly onReload: () => void;
}

/** Tells that somebody else has saved meanwhile, and lets one choose what becomes of one's own. */
export function ConflictDialog({ storing, onReload }: ConflictDialogProps): ReactNode {
  const [, navigate] = useLocation();
  const id = storing.facts?.id ?? '';
  const { data: theirs } = useAnswer('workflow', 'GET /api/v1/workflows/:id', { params: { id } });
  const copy = async () => {
    const made = await storing.saveAsCopy();
    if (made) navigate(`/${made.id}`);
  };
  return (
    <Modal title="Somebody else has changed this workflow" onClose={storing.forgetError}>
      <p>
        {theirs
          ? `“${theirs.name}” was saved ${formatAge(theirs.updatedAt)}; its newest version is ${theirs.latestVersion}. `
          : ''}
        What you have drawn was not saved, so that nothing of theirs is lost.
      </p>
      <div className="row workflow-end">
        <button type="button" className="quiet" onClick={storing.forgetError}>
          Back
        </button>
        <button type="button" onClick={onReload}>
          Open theirs, drop mine
        </button>
        <button
          type="button"
          className="primary"
          disabled={storing.isBusy}
          onClick={() => void copy()}
        >
          Keep mine as a new workflow
        </button>
      </div>
    </Modal>
  );
}
