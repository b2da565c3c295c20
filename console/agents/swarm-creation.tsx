import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { Field } from '../ui/field.tsx';
import { ModalButton } from '../ui/modal-button.tsx';
import { Problem } from '../ui/problem.tsx';
import { quorumOf, swarmOf, type SwarmDraft } from './swarm-draft.ts';

/** The way to have agents decide something together. */
export function SwarmCreation({
  onDone,
}: {
  readonly onDone: (swarmId: string) => void;
}): ReactNode {
  return (
    <Permitted needs="mesh:communicate">
      <ModalButton label="Create a swarm" look="primary">
        {(close) => <Form onDone={onDone} onCancel={close} />}
      </ModalButton>
    </Permitted>
  );
}

interface FormProps {
  readonly onDone: (swarmId: string) => void;
  readonly onCancel: () => void;
}

function Form({ onDone, onCancel }: FormProps): ReactNode {
  const [draft, setDraft] = useState<SwarmDraft>({
    name: '',
    members: [],
    question: '',
    input: '',
    threshold: '',
    timeoutSeconds: '60',
  });
  const creation = useChange('mesh', 'POST /api/v1/swarms');
  const create = () =>
    creation.mutate(() => ({ body: swarmOf(draft) }), {
      onSuccess: ({ swarmId }) => onDone(swarmId),
    });
  const change = (part: Partial<SwarmDraft>) => setDraft({ ...draft, ...part });
  return (
    <ChangeForm change={creation} action="Create" onSubmit={create} onCancel={onCancel}>
      <Subject draft={draft} onChange={change} />
      <Members members={draft.members} onChange={(members) => change({ members })} />
      <Terms draft={draft} onChange={change} />
    </ChangeForm>
  );
}

interface PartProps {
  readonly draft: SwarmDraft;
  readonly onChange: (part: Partial<SwarmDraft>) => void;
}

function Subject({ draft, onChange }: PartProps): ReactNode {
  return (
    <>
      <Field label="Name">
        <input
          required
          value={draft.name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
      </Field>
      <Field label="Question" hint="what the members approve or reject">
        <textarea
          value={draft.question}
          onChange={({ target }) => onChange({ question: target.value })}
        />
      </Field>
      <details>
        <summary>Further input</summary>
        <textarea
          aria-label="Further input, a JSON object"
          className="mono"
          value={draft.input}
          onChange={({ target }) => onChange({ input: target.value })}
        />
      </details>
    </>
  );
}

const offeredMax = 100;

function Members({
  members,
  onChange,
}: {
  readonly members: readonly string[];
  readonly onChange: (members: readonly string[]) => void;
}): ReactNode {
  const agents = useAnswer('mesh', 'GET /api/v1/agents', { query: { limit: offeredMax } });
  const offered = agents.data?.agents ?? [];
  const { quorum, liars } = quorumOf(members.length);
  return (
    <fieldset className="bare">
      <legend className="field-label">Members</legend>
      {agents.error ? <Problem error={agents.error} /> : null}
      <div className="members">
        {offered.map(({ agentId, status }) => (
          <label key={agentId} className="row">
            <input
              type="checkbox"
              checked={members.includes(agentId)}
              onChange={({ target }) =>
                onChange(
                  target.checked
                    ? [...members, agentId]
                    : members.filter((member) => member !== agentId),
                )
              }
            />
            {agentId} <span className="faint">{status}</span>
          </label>
        ))}
      </div>
      <p className="faint flat">
        {members.length === 0
          ? 'Each has one vote.'
          : `${quorum} equal votes of ${members.length} decide; ${liars} may lie.`}
        {agents.data && agents.data.total > offeredMax
          ? ` The first ${offeredMax} of ${agents.data.total} agents are offered; others may join later.`
          : ''}
      </p>
    </fieldset>
  );
}

function Terms({ draft, onChange }: PartProps): ReactNode {
  return (
    <div className="two">
      <Field label="Threshold" hint="equal votes that decide; it can only raise what is needed">
        <input
          type="number"
          min={1}
          value={draft.threshold}
          onChange={({ target }) => onChange({ threshold: target.value })}
        />
      </Field>
      <Field label="Ends after" hint="seconds, undecided by then">
        <input
          type="number"
          min={0.001}
          step="any"
          value={draft.timeoutSeconds}
          onChange={({ target }) => onChange({ timeoutSeconds: target.value })}
        />
      </Field>
    </div>
  );
}
