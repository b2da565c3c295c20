import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Switch } from '../../ui/switch.tsx';
import { formatAge } from '../../ui/text.ts';
import type { Alert } from '../parts/answers.ts';
import { AlertHistory } from './alert-history.tsx';
import { tellCondition } from './draft.ts';

export interface AlertCardProps {
  readonly alert: Alert;
  readonly onEdit: () => void;
}

/** An alert and how it stands. */
export function AlertCard({ alert, onEdit }: AlertCardProps): ReactNode {
  const { alertId, name, severity, condition, enabled, warnings = [] } = alert;
  const [isHistoryOpen, setIsHistoryOpen] = useState(false);
  const change = useChange('tracer', 'PATCH /api/v1/alerts/:id');
  return (
    <article className="card stack alert" aria-label={name}>
      <header className="row wrap">
        <State alert={alert} />
        <h2>{name}</h2>
        <span className="faint">{severity}</span>
        <div className="actions">
          <Permitted needs="tracer:configure">
            <Switch
              label="Enabled"
              isOn={enabled}
              isDisabled={change.isPending}
              onChange={(isOn) =>
                change.mutate({ params: { id: alertId }, body: { enabled: isOn } })
              }
            />
          </Permitted>
          <button
            type="button"
            aria-expanded={isHistoryOpen}
            onClick={() => setIsHistoryOpen(!isHistoryOpen)}
          >
            History
          </button>
          <Permitted needs="tracer:configure">
            <button type="button" onClick={onEdit}>
              Edit
            </button>
            <Deletion alert={alert} />
          </Permitted>
        </div>
      </header>
      <p>
        {tellCondition(condition)}
        <span className="faint"> · {tellEvaluation(alert)}</span>
      </p>
      <p className="faint">{tellTargets(alert)}</p>
      {warnings.map((warning) => (
        <p key={warning} className="warning-text">
          {warning}
        </p>
      ))}
      {change.error ? <Problem error={change.error} /> : null}
      {isHistoryOpen ? <AlertHistory alertId={alertId} /> : null}
    </article>
  );
}

function State({ alert }: { readonly alert: Alert }): ReactNode {
  const { enabled, state, firingSince } = alert;
  if (!enabled) return <Badge state="paused" tone="neutral" />;
  const tone: Tone = state === 'firing' ? 'bad' : 'good';
  const since = firingSince ? ` since ${formatAge(firingSince)}` : '';
  return <Badge state={`${state}${since}`} tone={tone} />;
}

function tellEvaluation({ lastEvaluatedAt, lastValue }: Alert): string {
  if (!lastEvaluatedAt) return 'not yet looked at';
  const value =
    lastValue === undefined ? 'no traces in the window' : `${+lastValue.toPrecision(4)}`;
  return `${value}, looked at ${formatAge(lastEvaluatedAt)}`;
}

function tellTargets({ notifications }: Alert): string {
  if (notifications.length === 0) return 'Tells nobody: its history alone says when it fired.';
  const targets = notifications.map(({ type, webhook, channel, recipients }) =>
    type === 'email'
      ? `email to ${recipients?.join(', ') ?? ''}`
      : `Slack at ${webhook ?? ''}${channel ? ` in ${channel}` : ''}`,
  );
  return `Tells: ${targets.join('; ')}.`;
}

function Deletion({ alert: { alertId, name } }: Pick<AlertCardProps, 'alert'>): ReactNode {
  const removal = useChange('tracer', 'DELETE /api/v1/alerts/:id');
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete the alert “${name}”?`}
      action="Delete alert"
      onConfirm={() => removal.mutateAsync({ params: { id: alertId } })}
    >
      Its history goes with it. To stop it for a while, switch it off.
    </ConfirmButton>
  );
}
