import { useMemo, useState, type ReactNode, type SubmitEvent } from 'react';
import { Field } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatDuration } from '../../ui/text.ts';
import type { Trace, WhatIf } from '../parts/answers.ts';
import { tellSaving, useWhatIf, type Change } from './what-if-button.tsx';

type Subject = 'operation' | 'service';

export interface WhatIfFormProps {
  readonly trace: Trace;
  readonly onShowSpan: (spanId: string) => void;
}

/** Supposes that all spans of an operation or a service were faster or slower. */
export function WhatIfForm({ trace, onShowSpan }: WhatIfFormProps): ReactNode {
  const whatIf = useWhatIf(trace.traceId);
  const [subject, setSubject] = useState<Subject>('operation');
  const [factor, setFactor] = useState('2');
  const [extent, setExtent] = useState<NonNullable<Change['extent']>>('whole');
  const names = useMemo(() => namesOf(trace, subject), [trace, subject]);
  const [wanted, setWanted] = useState('');
  const name = names.includes(wanted) ? wanted : (names[0] ?? '');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    whatIf.mutate([{ [subject]: name, factor: Number(factor), extent }]);
  };
  return (
    <section className="card stack" aria-label="What if">
      <h2>What if …</h2>
      <form className="what-if" onSubmit={submit}>
        <Field label="Every span of the">
          <select value={subject} onChange={({ target }) => setSubject(target.value as Subject)}>
            <option value="operation">operation</option>
            <option value="service">service</option>
          </select>
        </Field>
        <Field label="Named">
          <select value={name} onChange={({ target }) => setWanted(target.value)}>
            <Options texts={names} />
          </select>
        </Field>
        <Field label="Were so many times as fast" hint="below 1 is slower">
          <input
            type="number"
            min="0.001"
            step="any"
            required
            value={factor}
            onChange={({ target }) => setFactor(target.value)}
          />
        </Field>
        <Field label="What of it">
          <select
            value={extent}
            onChange={({ target }) => setExtent(target.value as NonNullable<Change['extent']>)}
          >
            <option value="whole">with all below it</option>
            <option value="own">its own work only</option>
          </select>
        </Field>
        <button type="submit" className="primary" disabled={whatIf.isPending}>
          Project
        </button>
      </form>
      {whatIf.error ? <Problem error={whatIf.error} /> : null}
      {whatIf.data ? <Projection answer={whatIf.data} onShowSpan={onShowSpan} /> : null}
    </section>
  );
}

function Options({ texts }: { readonly texts: readonly string[] }): ReactNode {
  return texts.map((text) => <option key={text}>{text}</option>);
}

interface ProjectionProps {
  readonly answer: WhatIf;
  readonly onShowSpan: (spanId: string) => void;
}

function Projection({ answer, onShowSpan }: ProjectionProps): ReactNode {
  return (
    <>
      <p>
        <output className="what-if-answer">{tellSaving(answer)}</output>
      </p>
      <Table
        columns={columnsOf(onShowSpan)}
        rows={answer.criticalPath}
        keyOf={({ spanId }) => spanId}
      />
    </>
  );
}

function columnsOf(
  onShowSpan: (spanId: string) => void,
): readonly Column<WhatIf['criticalPath'][number]>[] {
  return [
    { title: 'On the path then', cell: ({ service, name }) => `${service}: ${name}` },
    { title: 'Now', isFigure: true, cell: ({ duration }) => formatDuration(duration) },
    {
      title: 'Then',
      isFigure: true,
      cell: ({ projectedDuration }) => formatDuration(projectedDuration),
    },
    {
      title: '',
      cell: ({ spanId }) => (
        <button type="button" className="quiet" onClick={() => onShowSpan(spanId)}>
          Show
        </button>
      ),
    },
  ];
}

function namesOf({ spans }: Trace, subject: Subject): string[] {
  const names = spans.map(({ name, service }) => (subject === 'operation' ? name : service));
  return [...new Set(names)].toSorted();
}
