import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { useIsAllowed } from '../session/person.ts';
import { Answered } from '../ui/answered.tsx';
import { Badge } from '../ui/badge.tsx';
import { Empty } from '../ui/empty.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { formatAge, formatDollars, formatDuration } from '../ui/text.ts';

type Trace = Answer<'tracer', 'GET /api/v1/traces'>['traces'][number];

const refreshMs = 10_000;

/** The last calls that went through the suite, each from its edge to the model; for who may see traces. */
export function LatestTraces(): ReactNode {
  return useIsAllowed('tracer:read') ? <Latest /> : null;
}

function Latest() {
  const traces = useAnswer('tracer', 'GET /api/v1/traces', {
    query: { limit: 5 },
    everyMs: refreshMs,
  });
  const [, navigate] = useLocation();
  const open = ({ traceId }: Trace) => navigate(`/traces/${traceId}`);
  return (
    <section className="section" aria-labelledby="latest">
      <h2 id="latest">Latest traces</h2>
      <Answered query={traces}>
        {({ traces: latest }) =>
          latest.length === 0 ? (
            <Empty title="No trace yet">Ask the gateway something, and its trace is here.</Empty>
          ) : (
            <Table columns={columns} rows={latest} keyOf={({ traceId }) => traceId} onOpen={open} />
          )
        }
      </Answered>
    </section>
  );
}

const columns: readonly Column<Trace>[] = [
  {
    title: 'Trace',
    cell: ({ traceId, name }) => <Link href={`/traces/${traceId}`}>{name}</Link>,
  },
  { title: 'Service', cell: ({ service }) => service },
  { title: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { title: 'Cost', isFigure: true, cell: ({ genAi }) => genAi && formatDollars(genAi.costUsd) },
  { title: 'Duration', isFigure: true, cell: ({ duration }) => formatDuration(duration) },
  { title: 'Started', isFigure: true, cell: ({ startTime }) => formatAge(startTime) },
];
