import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Field } from '../ui/field.tsx';
import { textOf } from '../ui/form-values.ts';
import { Problem } from '../ui/problem.tsx';
import type { Swarm } from './answers.ts';

const values = ['approve', 'reject', 'abstain'] as const;

/** What can be done about a swarm that is not decided: vote for a member, bring a further agent in. */
export function SwarmActions({ swarm }: { readonly swarm: Swarm }): ReactNode {
  return (
    <section className="card stack">
      <h2>Take part</h2>
      <p className="faint flat">Whoever owns an agent may vote and join for it.</p>
      <Permitted needs="mesh:communicate">
        <VoteForm swarm={swarm} />
        <JoinForm swarm={swarm} />
      </Permitted>
    </section>
  );
}

function VoteForm({ swarm: { swarmId, members } }: { readonly swarm: Swarm }): ReactNode {
  const [agentId, setAgentId] = useState(members[0]?.agentId ?? '');
  const [confidence, setConfidence] = useState('1');
  const cast = useChange('mesh', 'POST /api/v1/swarms/:swarmId/votes');
  const say = (vote: (typeof values)[number]) =>
    cast.mutate({ params: { swarmId }, body: { agentId, vote, confidence: Number(confidence) } });
  return (
    <div className="stack">
      <div className="two">
        <Field label="Vote for">
          <select value={agentId} onChange={({ target }) => setAgentId(target.value)}>
            {members.map((member) => (
              <option key={member.agentId}>{member.agentId}</option>
            ))}
          </select>
        </Field>
        <Field label="Confidence">
          <input
            type="number"
            min={0}
            max={1}
            step="any"
            value={confidence}
            onChange={({ target }) => setConfidence(target.value)}
          />
        </Field>
      </div>
      <div className="row">
        {values.map((vote) => (
          <button key={vote} type="button" disabled={cast.isPending} onClick={() => say(vote)}>
            {vote}
          </button>
        ))}
      </div>
      {cast.error ? <Problem error={cast.error} /> : null}
    </div>
  );
}

function JoinForm({ swarm: { swarmId, members } }: { readonly swarm: Swarm }): ReactNode {
  const agents = useAnswer('mesh', 'GET /api/v1/agents', { query: { limit: 100 } });
  const join = useChange('mesh', 'POST /api/v1/swarms/:swarmId/join');
  const inside = new Set(members.map((member) => member.agentId));
  const bringIn = (form: FormData) =>
    join.mutate({ params: { swarmId }, body: { agentId: textOf(form, 'agent').trim() } });
  return (
    <ChangeForm change={join} action="Join" onSubmit={bringIn}>
      <Field label="Bring an agent in" hint="until the first vote">
        <input name="agent" required list="swarm-agents" />
      </Field>
      <datalist id="swarm-agents">
        {(agents.data?.agents ?? [])
          .filter((agent) => !inside.has(agent.agentId))
          .map((agent) => (
            <option key={agent.agentId}>{agent.agentId}</option>
          ))}
      </datalist>
    </ChangeForm>
  );
}

/** Ends a swarm undecided, as its owner. */
export function SwarmCancel({ swarmId }: { readonly swarmId: string }): ReactNode {
  const cancel = useChange('mesh', 'POST /api/v1/swarms/:swarmId/cancel');
  return (
    <Permitted needs="mesh:communicate">
      <ConfirmButton
        label="Cancel the swarm"
        onConfirm={() => cancel.mutateAsync({ params: { swarmId } })}
      >
        It ends undecided; votes that come later do not count.
      </ConfirmButton>
    </Permitted>
  );
}
