import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge, formatCount, formatShare } from '../../ui/text.ts';
import { Pager } from '../../ui/pager.tsx';
import { formatMoment } from '../parts/times.ts';
import type { SectionProps } from './range-choice.tsx';

type ErrorType = Answer<'tracer', 'GET /api/v1/metrics/errors'>['errorsByType'][number];
type LoggedError = Answer<'tracer', 'GET /api/v1/errors'>['errors'][number];

const pageSize = 20;

/** Failed traces: by their error, and one by one. */
export function ErrorsSection({ range, parameters, onSet }: SectionProps): ReactNode {
  const code = parameters.get('code') ?? '';
  const distribution = useAnswer('tracer', 'GET /api/v1/metrics/errors', {
    query: { timeRange: range },
  });
  return (
    <Answered query={distribution}>
      {({ totalErrors, errorRate, errorsByType, recommendations }) =>
        totalErrors === 0 ? (
          <Empty title="No failed trace in this time" />
        ) : (
          <>
            <p>
              {formatCount(totalErrors)} failed {totalErrors === 1 ? 'trace' : 'traces'},{' '}
              {formatShare(errorRate)} of all.
            </p>
            {recommendations.length > 0 ? (
              <ul>
                {recommendations.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            ) : null}
            <Table
              columns={typeColumns((chosen) => onSet({ code: chosen, offset: '0' }))}
              rows={errorsByType}
              keyOf={({ errorCode }) => errorCode}
            />
            <ErrorLog range={range} parameters={parameters} onSet={onSet} key={code} />
          </>
        )
      }
    </Answered>
  );
}

function ErrorLog({ range, parameters, onSet }: SectionProps): ReactNode {
  const code = parameters.get('code') ?? '';
  const offset = Number(parameters.get('offset')) || 0;
  const log = useAnswer('tracer', 'GET /api/v1/errors', {
    query: { timeRange: range, limit: pageSize, offset, ...(code ? { code } : {}) },
  });
  return (
    <section className="stack" aria-label="Error log">
      <h2 className="row">
        Error log{code ? `: ${code}` : ''}
        {code ? (
          <button type="button" onClick={() => onSet({ code: '', offset: '0' })}>
            Show all
          </button>
        ) : null}
      </h2>
      <Answered query={log}>
        {({ errors, total }) => (
          <>
            <div className="wide">
              <Table
                columns={logColumns}
                rows={errors}
                keyOf={({ traceId, spanId }) => `${traceId} ${spanId}`}
              />
            </div>
            <Pager
              offset={offset}
              limit={pageSize}
              total={total}
              onMove={(next) => onSet({ offset: String(next) })}
            />
          </>
        )}
      </Answered>
    </section>
  );
}

function typeColumns(onChoose: (code: string) => void): readonly Column<ErrorType>[] {
  return [
    {
      title: 'Error',
      cell: ({ errorCode }) => (
        <button type="button" className="as-link" onClick={() => onChoose(errorCode)}>
          {errorCode}
        </button>
      ),
    },
    { title: 'Traces', isFigure: true, cell: ({ count }) => formatCount(count) },
    { title: 'Of all errors', isFigure: true, cell: ({ percentage }) => `${percentage} %` },
    { title: 'Agents', cell: ({ affectedAgents }) => affectedAgents.join(', ') },
  ];
}

const logColumns: readonly Column<LoggedError>[] = [
  {
    title: 'When',
    cell: ({ timestamp }) => <span title={formatMoment(timestamp)}>{formatAge(timestamp)}</span>,
  },
  {
    title: 'Trace',
    cell: ({ traceId, spanId, name }) => <Link href={`/${traceId}?span=${spanId}`}>{name}</Link>,
  },
  { title: 'Service', cell: ({ service }) => service },
  { title: 'Error', cell: ({ code }) => code },
  { title: 'Message', cell: ({ message }) => message },
  { title: 'Agent', cell: ({ agent }) => agent },
];
