import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import type { Trigger } from './trigger.ts';

export interface TriggerFieldsProps {
  readonly type: Trigger['type'];
  /** What the fields begin with. */
  readonly trigger?: Trigger;
}

/** The settings of a type of trigger. */
export function TriggerFields({ type, trigger }: TriggerFieldsProps): ReactNode {
  return (
    <>
      <Field label="Name">
        <input name="name" maxLength={200} autoComplete="off" defaultValue={trigger?.name} />
      </Field>
      {type === 'schedule' ? <ScheduleFields trigger={trigger} /> : null}
      {type === 'webhook' ? <HookFields trigger={trigger} /> : null}
      {type === 'event' ? <TopicField trigger={trigger} /> : null}
      {type === 'schedule' ? null : <FilterField trigger={trigger} />}
      {type === 'webhook' ? null : <OverlapField trigger={trigger} />}
      <InputsField trigger={trigger} />
    </>
  );
}

interface FieldsProps {
  readonly trigger: Trigger | undefined;
}

function ScheduleFields({ trigger }: FieldsProps) {
  const zone = trigger?.timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <>
      <Field label="Cron" hint="Minute, hour, day, month, weekday; or @hourly, @daily, …">
        <input
          name="cron"
          className="mono"
          required
          maxLength={200}
          placeholder="0 9 * * 1-5"
          autoComplete="off"
          defaultValue={trigger?.cron}
        />
      </Field>
      <Field label="Time zone" hint="As Europe/Berlin.">
        <input name="timeZone" required maxLength={64} autoComplete="off" defaultValue={zone} />
      </Field>
    </>
  );
}

function HookFields({ trigger }: FieldsProps) {
  return (
    <>
      <Field label="Method">
        <select name="method" defaultValue={trigger?.method ?? 'POST'}>
          <option>POST</option>
          <option>PUT</option>
          <option>GET</option>
        </select>
      </Field>
      <Field label="A sender must show">
        <select name="verification" defaultValue={trigger?.verification ?? 'secret'}>
          <option value="secret">the secret, or a signature by it</option>
          <option value="none">nothing: the address is enough</option>
        </select>
      </Field>
    </>
  );
}

function TopicField({ trigger }: FieldsProps) {
  return (
    <Field label="Events">
      <select name="topic" defaultValue={trigger?.topic ?? 'mesh.activity'}>
        <option value="mesh.activity">agents, tasks and votes of the mesh</option>
        <option value="registry.events">MCP servers of the registry</option>
        <option value="tracer.trace-completed">complete traces</option>
      </select>
    </Field>
  );
}

function FilterField({ trigger }: FieldsProps) {
  const what = trigger?.filter === undefined ? 'all do when blank' : '`true` lets all do so';
  return (
    <Field label="Only if" hint={`CEL; what it holds for starts the workflow, ${what}.`}>
      <input
        name="filter"
        className="mono"
        maxLength={4_096}
        required={trigger?.filter !== undefined}
        placeholder={'body.kind == "order"'}
        autoComplete="off"
        defaultValue={trigger?.filter}
      />
    </Field>
  );
}

function OverlapField({ trigger }: FieldsProps) {
  return (
    <Field label="While the execution before still runs">
      <select name="overlap" defaultValue={trigger?.overlap ?? 'skip'}>
        <option value="skip">pass this firing over</option>
        <option value="queue">let it wait</option>
      </select>
    </Field>
  );
}

function InputsField({ trigger }: FieldsProps) {
  const inputs = trigger?.inputs && JSON.stringify(trigger.inputs, undefined, 2);
  return (
    <Field
      label="Inputs"
      hint="JSON with placeholders such as {{ body.name }}; what came in itself when blank."
    >
      <textarea name="inputs" className="mono" rows={3} defaultValue={inputs} />
    </Field>
  );
}
