import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Switch } from '../../ui/switch.tsx';
import { formatAge, formatCount } from '../../ui/text.ts';
import { FiringList } from './firing-list.tsx';
import { EditTriggerButton } from './trigger-dialog.tsx';
import { nameOf, type Trigger } from './trigger.ts';

/** A trigger: what fires it, how often it did, and what became of that. */
export function TriggerCard({ trigger }: { readonly trigger: Trigger }): ReactNode {
  const { id: triggerId, workflowId, type, enabled } = trigger;
  const [areFiringsOpen, setAreFiringsOpen] = useState(false);
  const change = useChange('workflow', 'PATCH /api/v1/workflows/:workflowId/triggers/:triggerId');
  const params = { workflowId, triggerId };
  const name = nameOf(trigger);
  return (
    <article className="card stack" aria-label={name}>
      <header className="row wrap">
        <Badge state={enabled ? 'active' : 'paused'} />
        <h2>{name}</h2>
        <span className="faint">{type}</span>
        <div className="actions">
          <Permitted needs="workflow:create">
            <Switch
              label="Enabled"
              isOn={enabled}
              isDisabled={change.isPending}
              onChange={(isOn) => change.mutate({ params, body: { enabled: isOn } })}
            />
          </Permitted>
          <button
            type="button"
            aria-expanded={areFiringsOpen}
            onClick={() => setAreFiringsOpen(!areFiringsOpen)}
          >
            Firings
          </button>
          <Permitted needs="workflow:create">
            <EditTriggerButton trigger={trigger} />
            <Deletion trigger={trigger} />
          </Permitted>
        </div>
      </header>
      <TriggerFacts trigger={trigger} />
      {change.error ? <Problem error={change.error} /> : null}
      {areFiringsOpen ? <FiringList {...params} /> : null}
    </article>
  );
}

function TriggerFacts({ trigger }: { readonly trigger: Trigger }) {
  const { cron, timeZone, nextRuns, topic, overlap, filter, inputs, hookUrl, method } = trigger;
  const { verification, firedCount, firedAt } = trigger;
  return (
    <Facts
      facts={[
        ['At', cron && `${cron} (${timeZone ?? 'UTC'})`],
        ['Next', nextRuns?.[0] && new Date(nextRuns[0]).toLocaleString()],
        ['Deliver to', hookUrl && <Hook key="hook" method={method ?? 'POST'} url={hookUrl} />],
        ['Asks for', verification && asksFor[verification]],
        ['Events', topic],
        ['Only if', filter && <code key="filter">{filter}</code>],
        ['While one runs', overlap && whileRunning[overlap]],
        ['Inputs', inputs && <code key="inputs">{JSON.stringify(inputs)}</code>],
        ['Fired', firedAt ? `${formatCount(firedCount)} times, ${formatAge(firedAt)}` : 'never'],
      ]}
    />
  );
}

const asksFor: Readonly<Record<NonNullable<Trigger['verification']>, string>> = {
  secret: 'its secret',
  none: 'nothing: whoever knows the address may start it',
};

const whileRunning: Readonly<Record<NonNullable<Trigger['overlap']>, string>> = {
  skip: 'the next is passed over',
  queue: 'the next waits',
};

function Hook({ method, url }: { readonly method: string; readonly url: string }) {
  return (
    <>
      <code>
        {method} {url}
      </code>{' '}
      <CopyButton text={url} />
    </>
  );
}

function Deletion({ trigger }: { readonly trigger: Trigger }) {
  const { workflowId, id: triggerId } = trigger;
  const deletion = useChange(
    'workflow',
    'DELETE /api/v1/workflows/:workflowId/triggers/:triggerId',
  );
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete ${nameOf(trigger)}?`}
      onConfirm={() => deletion.mutateAsync({ params: { workflowId, triggerId } })}
    >
      <p>It fires no more, and what is known of its firings goes with it. Executions stay.</p>
    </ConfirmButton>
  );
}
