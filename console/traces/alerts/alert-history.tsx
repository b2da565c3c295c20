import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import type { AlertEvent } from '../parts/answers.ts';
import { Pager } from '../../ui/pager.tsx';
import { formatMoment } from '../parts/times.ts';
import { tellCondition } from './draft.ts';

const pageSize = 10;

/** When an alert fired and resolved, and what became of its messages. */
export function AlertHistory({ alertId }: { readonly alertId: string }): ReactNode {
  const [offset, setOffset] = useState(0);
  const history = useAnswer('tracer', 'GET /api/v1/alerts/:id/history', {
    params: { id: alertId },
    query: { limit: pageSize, offset },
  });
  return (
    <section className="stack" aria-label="History">
      <Answered query={history}>
        {({ history: events, total }) =>
          total === 0 ? (
            <p className="faint">It has not fired in the last thirty days.</p>
          ) : (
            <>
              <div className="wide">
                <Table columns={columns} rows={events} keyOf={({ eventId }) => eventId} />
              </div>
              <Pager offset={offset} limit={pageSize} total={total} onMove={setOffset} />
            </>
          )
        }
      </Answered>
    </section>
  );
}

const eventTones: Readonly<Record<string, Tone>> = { fired: 'bad', resolved: 'good' };
const deliveryTones: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  pending: 'busy',
  failed: 'bad',
};

const columns: readonly Column<AlertEvent>[] = [
  {
    title: 'Event',
    cell: ({ event }) => <Badge state={event} tone={eventTones[event] ?? 'neutral'} />,
  },
  { title: 'When', cell: ({ at }) => formatMoment(at) },
  {
    title: 'Value',
    isFigure: true,
    cell: ({ value }) => (value === undefined ? '' : +value.toPrecision(4)),
  },
  { title: 'Condition then', cell: ({ condition }) => tellCondition(condition) },
  {
    title: 'Examples',
    cell: ({ traceIds }) =>
      traceIds.map((traceId) => (
        <div key={traceId}>
          <Link href={`/${traceId}`}>
            <code>{traceId.slice(0, 8)}…</code>
          </Link>
        </div>
      )),
  },
  {
    title: 'Messages',
    cell: ({ deliveries }) =>
      deliveries.map(({ type, target, status, attempts, error }) => (
        <div key={`${type} ${target}`}>
          <Badge state={`${status}, ${target}`} tone={deliveryTones[status] ?? 'neutral'} />
          {error ? (
            <div className="faint">
              after {attempts} {attempts === 1 ? 'attempt' : 'attempts'}: {error}
            </div>
          ) : null}
        </div>
      )),
  },
];
