import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { StudioTask } from '../answers.ts';

const tones: Readonly<Record<StudioTask['status'], Tone>> = {
  queued: 'neutral',
  assigned: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
};

/** The state of a task. */
export function TaskBadge({ task }: { readonly task: Pick<StudioTask, 'status'> }): ReactNode {
  return <Badge state={task.status} tone={tones[task.status]} />;
}

/** Whether nothing more becomes of it. */
export function isOver({ status }: Pick<StudioTask, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}
