import type { ReactNode } from 'react';
import { formatCount, formatDuration } from '../../ui/text.ts';
import type { Bottlenecks } from '../parts/answers.ts';
import { AttributeList } from '../parts/attribute-list.tsx';

type Shape = Bottlenecks['shapes'][number];

const titles: Readonly<Record<Shape['shape'], string>> = {
  'n-plus-one': 'The same call again and again',
  'serial-calls': 'Calls that could run side by side',
  retry: 'Tries that had to be repeated',
  'queue-wait': 'A message that lay in a queue',
  'client-server-gap': 'Time between client and server',
  'long-output': 'A long answer of a model',
  'slow-database': 'A slow call of a database',
  'cold-start': 'An instance that had just been started',
};

export interface ShapesProps {
  readonly shapes: readonly Shape[];
  readonly total: number;
  readonly onShowSpan: (spanId: string) => void;
}

/** What is recognised by how the calls of a trace stand to each other. */
export function Shapes({ shapes, total, onShowSpan }: ShapesProps): ReactNode {
  if (total === 0) return null;
  return (
    <section className="stack" aria-label="Shapes">
      <h2>Shapes{total > shapes.length ? `, the first ${shapes.length} of ${total}` : ''}</h2>
      {shapes.map((shape) => (
        <article key={`${shape.shape} ${shape.spanIds[0] ?? ''}`} className="card stack">
          <h2>
            {titles[shape.shape]} <span className="faint">{shape.shape}</span>
          </h2>
          <p className="evidence">
            {formatCount(shape.spans)} spans, {shape.percentOfTrace} % of the trace; at most{' '}
            {formatDuration(shape.savingMs)} to save. {shape.recommendation}
          </p>
          <AttributeList attributes={shape.evidence} />
          <div className="row wrap">
            {shape.spanIds.map((spanId) => (
              <button key={spanId} type="button" onClick={() => onShowSpan(spanId)}>
                <code>{spanId}</code>
              </button>
            ))}
          </div>
        </article>
      ))}
    </section>
  );
}
