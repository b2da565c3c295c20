import { useState, type ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { formatCount, formatDuration, formatShare } from '../../ui/text.ts';
import { RangeChoice, readRange } from '../metrics/range-choice.tsx';
import type { Dependencies } from '../parts/answers.ts';
import { SortableTable, type SortableColumn } from '../parts/sortable-table.tsx';
import { TracesNav } from '../parts/traces-nav.tsx';
import { ServiceGraph } from './service-graph.tsx';

/** Which service calls which, and what is outside. */
export function DependenciesPage(): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const range = readRange(parameters);
  const graph = useAnswer('tracer', 'GET /api/v1/dependencies', { query: { timeRange: range } });
  return (
    <Page
      title="Traces"
      actions={<RangeChoice range={range} onChoose={(next) => setParameters({ range: next })} />}
    >
      <TracesNav />
      <Answered query={graph}>
        {(answer) =>
          answer.nodes.length === 0 ? (
            <Empty title="No service in this time">
              <p>Services appear once a trace of theirs is complete; choose a longer time range.</p>
            </Empty>
          ) : (
            <Graph key={answer.endTime} graph={answer} />
          )
        }
      </Answered>
    </Page>
  );
}

function Graph({ graph }: { readonly graph: Dependencies }): ReactNode {
  const [chosenId, setChosenId] = useState<string>();
  const chosen = graph.nodes.find(({ serviceId }) => serviceId === chosenId);
  const calls = graph.edges.filter(
    ({ from, to }) => chosen === undefined || from === chosenId || to === chosenId,
  );
  const names = new Map(graph.nodes.map(({ serviceId, serviceName }) => [serviceId, serviceName]));
  return (
    <>
      <ServiceGraph graph={graph} chosenId={chosenId} onChoose={setChosenId} />
      {chosen ? <ChosenService service={chosen} onClear={() => setChosenId(undefined)} /> : null}
      {calls.length === 0 ? (
        <p className="faint">No calls between services.</p>
      ) : (
        <SortableTable
          columns={columnsOf(names)}
          rows={calls}
          keyOf={({ from, to }) => `${from} ${to}`}
          sortedBy="Calls"
        />
      )}
    </>
  );
}

interface ChosenServiceProps {
  readonly service: Dependencies['nodes'][number];
  readonly onClear: () => void;
}

function ChosenService({ service, onClear }: ChosenServiceProps): ReactNode {
  const { serviceName, type, requestsHandled, errorRate } = service;
  return (
    <section className="card row wrap" aria-label="Chosen service">
      <strong>{serviceName}</strong>
      <span className="faint">{type}</span>
      {formatCount(requestsHandled)} calls handled, {formatShare(errorRate)} failed
      {type === 'service' ? (
        <Link href={`/?service=${encodeURIComponent(serviceName)}`}>Traces that begin there</Link>
      ) : null}
      <button type="button" onClick={onClear}>
        Show all calls
      </button>
    </section>
  );
}

type Edge = Dependencies['edges'][number];

function columnsOf(names: ReadonlyMap<string, string>): readonly SortableColumn<Edge>[] {
  return [
    { title: 'From', value: ({ from }) => names.get(from) ?? from },
    { title: 'To', value: ({ to }) => names.get(to) ?? to },
    {
      title: 'Calls',
      value: ({ requests }) => requests,
      cell: ({ requests }) => formatCount(requests),
    },
    {
      title: 'Errors',
      value: ({ errorRate }) => errorRate,
      cell: ({ errorRate }) => (
        <span className={errorRate > 0 ? 'failed-figure' : ''}>{formatShare(errorRate)}</span>
      ),
    },
    {
      title: 'Average',
      value: ({ averageLatency }) => averageLatency,
      cell: ({ averageLatency }) => formatDuration(averageLatency),
    },
    {
      title: 'p95',
      value: ({ p95Latency }) => p95Latency,
      cell: ({ p95Latency }) => formatDuration(p95Latency),
    },
  ];
}
