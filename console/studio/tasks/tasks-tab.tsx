import type { ReactNode } from 'react';
import { ModalButton } from '../../ui/modal-button.tsx';
import type { Workspace } from '../answers.ts';
import { useRights } from '../workspaces/use-rights.ts';
import { NewTask } from './new-task.tsx';
import { TaskList } from './task-list.tsx';

/** All tasks of a workspace. */
export function TasksTab({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const { mayRunAgents } = useRights(workspace);
  return (
    <div className="stack">
      {mayRunAgents ? (
        <div className="row">
          <ModalButton label="New task" look="primary">
            {(close) => <NewTask workspaceId={workspace.id} onCancel={close} />}
          </ModalButton>
          <span className="faint">Any agent of the workspace that can does it.</span>
        </div>
      ) : null}
      <TaskList workspaceId={workspace.id} />
    </div>
  );
}
