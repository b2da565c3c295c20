import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import { metrics, operators, type AlertDraft, type Metric, type Operator } from './draft.ts';

export interface ConditionFieldsProps {
  readonly draft: AlertDraft;
  readonly onSet: SetDraft;
}

/** What is watched, and when it is too much. */
export function ConditionFields({ draft, onSet }: ConditionFieldsProps): ReactNode {
  return (
    <div className="alert-fields">
      <Field label="Metric">
        <select
          value={draft.metric}
          onChange={({ target }) => onSet({ metric: target.value as Metric })}
        >
          {Object.entries(metrics).map(([value, { title }]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Is">
        <select
          value={draft.operator}
          onChange={({ target }) => onSet({ operator: target.value as Operator })}
        >
          {Object.entries(operators).map(([value, sign]) => (
            <option key={value} value={value}>
              {sign} {value}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Threshold" hint={metrics[draft.metric].unit}>
        <input
          type="number"
          step="any"
          required
          value={draft.threshold}
          onChange={({ target }) => onSet({ threshold: target.value })}
        />
      </Field>
      <Field label="Time window" hint="30s to 24h, back from now">
        <input
          required
          value={draft.timeWindow}
          onChange={({ target }) => onSet({ timeWindow: target.value })}
        />
      </Field>
      <Field label="Of the agent" hint="all when empty">
        <input value={draft.agentId} onChange={({ target }) => onSet({ agentId: target.value })} />
      </Field>
      <Field label="Of the operation" hint="the name of a trace; all when empty">
        <input
          value={draft.operation}
          onChange={({ target }) => onSet({ operation: target.value })}
        />
      </Field>
    </div>
  );
}

/** What is said of a field of the draft. */
export type SetDraft = (part: Partial<AlertDraft>) => void;
