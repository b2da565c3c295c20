import { useState, type ReactNode } from 'react';
import { Modal } from '../../ui/modal.tsx';
import type { Workspace } from '../answers.ts';
import { useRights } from '../workspaces/use-rights.ts';
import { NewTask } from './new-task.tsx';
import { TaskList } from './task-list.tsx';

/** All tasks of a workspace. */
export function TasksTab({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const { mayRunAgents } = useRights(workspace);
  const [isGiving, setIsGiving] = useState(false);
  return (
    <div className="stack">
      {mayRunAgents ? (
        <div className="row">
          <button type="button" className="primary" onClick={() => setIsGiving(true)}>
            New task
          </button>
          <span className="faint">Any agent of the workspace that can does it.</span>
        </div>
      ) : null}
      {isGiving ? (
        <Modal title="New task" onClose={() => setIsGiving(false)}>
          <NewTask workspaceId={workspace.id} />
        </Modal>
      ) : null}
      <TaskList workspaceId={workspace.id} />
    </div>
  );
}
