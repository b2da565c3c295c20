import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { AgentsNav } from './agents-nav.tsx';
import { TaskForm } from './task-form.tsx';
import type { TaskRun } from './task-run.ts';
import { TaskView } from './task-view.tsx';

/** Has agents do tasks, and shows what came of those that were asked for here. */
export function TasksPage(): ReactNode {
  const [runs, addRun] = useRuns();
  return (
    <Page title="Agents">
      <AgentsNav />
      <div className="task-page">
        <TaskForm onStart={addRun} />
        <section className="stack" aria-label="Tasks that were asked for here">
          {runs.length === 0 ? (
            <Empty title="No task was asked for yet">
              Say what is to be done: its state and its result come here.
            </Empty>
          ) : (
            runs.map((run) => <TaskView key={run.taskId} run={run} />)
          )}
        </section>
      </div>
    </Page>
  );
}

const runsKey = ['task runs'];

/** What was asked for since the login, the newest first; the mesh has no list of it. */
function useRuns(): readonly [readonly TaskRun[], (run: TaskRun) => void] {
  const client = useQueryClient();
  const { data = [] } = useQuery<readonly TaskRun[]>({
    queryKey: runsKey,
    queryFn: () => [],
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const add = (run: TaskRun) =>
    client.setQueryData<readonly TaskRun[]>(runsKey, (known = []) => [run, ...known]);
  return [data, add];
}
