import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { call } from '../../api/call.ts';
import { onceOnly } from '../../api/request-key.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { linesIn } from '../../ui/entry-text.ts';
import { Field } from '../../ui/field.tsx';
import { filled, textOf } from '../../ui/form-values.ts';
import type { StudioTask } from '../answers.ts';

const types: readonly StudioTask['type'][] = ['code_generation', 'refactor', 'test', 'deploy'];
const priorities: readonly StudioTask['priority'][] = ['low', 'normal', 'high', 'critical'];

export interface NewTaskProps {
  readonly workspaceId: string;
  /** Who is to do it; any agent of the workspace that can when absent. */
  readonly agentId?: string;
  readonly onCancel?: () => void;
}

/** Gives a task, and opens it. */
export function NewTask({ workspaceId, agentId, onCancel }: NewTaskProps): ReactNode {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [type, setType] = useState(types[0]);
  const giving = useMutation({
    mutationFn: (form: FormData) => give(form, { workspaceId, ...(agentId ? { agentId } : {}) }),
    onSuccess: async ({ taskId }) => {
      await client.invalidateQueries({ queryKey: ['studio', 'GET /api/v1/tasks'] });
      navigate(`/tasks/${taskId}`);
    },
  });
  return (
    <ChangeForm change={giving} action="Give the task" onSubmit={giving.mutate} onCancel={onCancel}>
      <div className="row">
        <Field label="Type">
          <select
            name="type"
            value={type}
            onChange={({ target }) => setType(types.find((one) => one === target.value))}
          >
            {types.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
        <Field label="Priority">
          <select name="priority" defaultValue="normal">
            {priorities.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
      </div>
      <Field label="What to do" hint={hints[type ?? 'code_generation']}>
        <textarea name="prompt" required={type === 'code_generation' || type === 'refactor'} />
      </Field>
      <Field label="Files to know" hint="Paths of the workspace, one a line, 50 at most.">
        <textarea name="files" className="mono short" />
      </Field>
    </ChangeForm>
  );
}

const hints: Readonly<Record<StudioTask['type'], string>> = {
  code_generation: 'An assistant answers, a reviewer answers findings, a coder writes files.',
  refactor: 'What is to change in the files.',
  test: "Runs the workspace's test command, whatever stands here.",
  deploy: "Runs the workspace's deploy workflow.",
};

function give(
  form: FormData,
  { workspaceId, agentId }: Omit<NewTaskProps, 'onCancel'>,
): Promise<StudioTask> {
  const files = linesIn(textOf(form, 'files'));
  const input = {
    ...filled(form, 'prompt'),
    ...(files.length > 0 ? { context: { files } } : {}),
  };
  const task = {
    type: types.find((one) => one === textOf(form, 'type')) ?? 'code_generation',
    priority: priorities.find((one) => one === textOf(form, 'priority')) ?? 'normal',
    input,
  };
  const headers = onceOnly();
  return agentId
    ? call('studio', 'POST /api/v1/agents/:id/tasks', {
        params: { id: agentId },
        body: task,
        headers,
      })
    : call('studio', 'POST /api/v1/tasks', { body: { ...task, workspaceId }, headers });
}
