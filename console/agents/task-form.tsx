import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { Field } from '../ui/field.tsx';
import {
  priorities,
  startTask,
  taskOf,
  type Priority,
  type TaskDraft,
  type TaskRun,
} from './task-run.ts';

/** What is to be done, by whom and until when. */
export function TaskForm({ onStart }: { readonly onStart: (run: TaskRun) => void }): ReactNode {
  const [address] = useSearchParams();
  const [draft, setDraft] = useState<TaskDraft>({
    targetAgent: address.get('agent') ?? '',
    type: address.get('type') ?? '',
    inputKind: 'text',
    input: '',
    priority: 'normal',
    timeoutSeconds: '30',
  });
  const start = useMutation({
    mutationFn: async () => startTask(taskOf(draft)),
    onSuccess: onStart,
  });
  const change = (part: Partial<TaskDraft>) => setDraft({ ...draft, ...part });
  return (
    <div className="card">
      <Permitted needs="mesh:communicate">
        <ChangeForm change={start} action="Run" onSubmit={() => start.mutate()} label="A task">
          <Target draft={draft} onChange={change} />
          <Input draft={draft} onChange={change} />
          <Terms draft={draft} onChange={change} />
        </ChangeForm>
      </Permitted>
    </div>
  );
}

interface PartProps {
  readonly draft: TaskDraft;
  readonly onChange: (part: Partial<TaskDraft>) => void;
}

const offeredMax = 100;

function Target({ draft, onChange }: PartProps): ReactNode {
  const agents = useAnswer('mesh', 'GET /api/v1/agents', { query: { limit: offeredMax } });
  const offered = agents.data?.agents ?? [];
  const capabilities = offered
    .filter(({ agentId }) => draft.targetAgent === '' || agentId === draft.targetAgent)
    .flatMap((agent) => agent.capabilities);
  return (
    <>
      <Field label="Agent" hint="left empty, the mesh takes one that is able and free">
        <input
          list="task-agents"
          value={draft.targetAgent}
          onChange={({ target }) => onChange({ targetAgent: target.value })}
        />
      </Field>
      <datalist id="task-agents">
        {offered.map(({ agentId }) => (
          <option key={agentId}>{agentId}</option>
        ))}
      </datalist>
      <Field label="Type of the task" hint="without an agent also the capability that is needed">
        <input
          required
          list="task-types"
          value={draft.type}
          onChange={({ target }) => onChange({ type: target.value })}
        />
      </Field>
      <datalist id="task-types">
        {[...new Set(capabilities)].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </datalist>
    </>
  );
}

function Input({ draft: { inputKind, input }, onChange }: PartProps): ReactNode {
  return (
    <>
      <fieldset className="row bare">
        <legend className="field-label">Input</legend>
        {(['text', 'json'] as const).map((kind) => (
          <label key={kind} className="row">
            <input
              type="radio"
              name="input-kind"
              checked={inputKind === kind}
              onChange={() => onChange({ inputKind: kind })}
            />
            {kind === 'text' ? 'Text' : 'JSON'}
          </label>
        ))}
      </fieldset>
      <textarea
        aria-label={inputKind === 'text' ? 'Text, the prompt' : 'A JSON object'}
        className={inputKind === 'json' ? 'mono' : undefined}
        placeholder={inputKind === 'text' ? 'Hello' : '{"prompt": "Hello"}'}
        value={input}
        rows={5}
        onChange={({ target }) => onChange({ input: target.value })}
      />
    </>
  );
}

function Terms({ draft: { priority, timeoutSeconds }, onChange }: PartProps): ReactNode {
  return (
    <div className="two">
      <Field label="Priority">
        <select
          value={priority}
          onChange={({ target }) => onChange({ priority: target.value as Priority })}
        >
          {priorities.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Field label="Deadline" hint="seconds from now, at most an hour">
        <input
          type="number"
          required
          min={0.001}
          max={3_600}
          step="any"
          value={timeoutSeconds}
          onChange={({ target }) => onChange({ timeoutSeconds: target.value })}
        />
      </Field>
    </div>
  );
}
