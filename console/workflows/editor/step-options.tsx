import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import { changeNode } from '../flow/edits.ts';
import type { Component, Flow, FlowNode } from '../flow/flow.ts';
import { NumberField } from './number-field.tsx';

export interface StepOptionsProps {
  readonly flow: Flow;
  readonly node: FlowNode;
  readonly component: Component | undefined;
  readonly onChange: (flow: Flow, topic?: string) => void;
}

const attemptsDefault = 3;
const delayDefault = 1_000;
const backoffs = ['exponential', 'linear', 'fixed'] as const;

/** What holds for every step: how long it may take, how often it is tried, and what a failure does. */
export function StepOptions({ flow, node, component, onChange }: StepOptionsProps): ReactNode {
  const { id, retry, timeout, onError } = node;
  const change = (fields: Partial<FlowNode> | { readonly [K in keyof FlowNode]?: undefined }) =>
    onChange(changeNode(flow, id, fields), `options ${id} ${Object.keys(fields).join(' ')}`);
  const changeRetry = (fields: NonNullable<FlowNode['retry']>) =>
    change({ retry: { ...retry, ...fields } });
  return (
    <details className="workflow-options" open={retry !== undefined || onError === 'continue'}>
      <summary>Time, retries, failures</summary>
      <div className="stack">
        <NumberField
          label="Timeout"
          hint={
            component?.timeout === undefined
              ? 'milliseconds'
              : `milliseconds; ${component.timeout} unless told`
          }
          value={timeout}
          onChange={(value) => change({ timeout: value })}
        />
        <Field label="When it fails">
          <select
            value={onError ?? 'fail'}
            onChange={({ target }) =>
              change({ onError: target.value === 'continue' ? 'continue' : 'fail' })
            }
          >
            <option value="fail">the execution fails</option>
            <option value="continue">go on along “error”</option>
          </select>
        </Field>
        {component?.control ? null : (
          <label className="row">
            <input
              type="checkbox"
              checked={retry !== undefined && retry.enabled !== false}
              onChange={({ target }) =>
                target.checked ? changeRetry({ enabled: true }) : change({ retry: undefined })
              }
            />
            Try again when it fails
          </label>
        )}
        {retry ? <RetryFields retry={retry} onChange={changeRetry} /> : null}
      </div>
    </details>
  );
}

interface RetryFieldsProps {
  readonly retry: NonNullable<FlowNode['retry']>;
  readonly onChange: (fields: NonNullable<FlowNode['retry']>) => void;
}

function RetryFields({ retry, onChange }: RetryFieldsProps) {
  return (
    <>
      <NumberField
        label="Attempts"
        hint="the first included"
        value={retry.maxAttempts ?? attemptsDefault}
        onChange={(maxAttempts = attemptsDefault) => onChange({ maxAttempts })}
      />
      <NumberField
        label="First pause"
        hint="milliseconds"
        value={retry.initialDelay ?? delayDefault}
        onChange={(initialDelay = delayDefault) => onChange({ initialDelay })}
      />
      <Field label="Pauses grow">
        <select
          value={retry.backoff ?? 'exponential'}
          onChange={({ target }) =>
            onChange({ backoff: backoffs.find((one) => one === target.value) ?? 'exponential' })
          }
        >
          {backoffs.map((backoff) => (
            <option key={backoff}>{backoff}</option>
          ))}
        </select>
      </Field>
    </>
  );
}
