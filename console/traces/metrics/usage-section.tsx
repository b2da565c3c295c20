import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';
import { SortableTable, type SortableColumn } from '../parts/sortable-table.tsx';
import type { SectionProps } from './range-choice.tsx';

type Usage = Answer<'tracer', 'GET /api/v1/metrics/usage'>['usage'][number];

const groupings = ['model', 'provider', 'agent'] as const;

/** What calls of models took: tokens and money. */
export function UsageSection({ range, parameters, onSet }: SectionProps): ReactNode {
  const groupBy = groupings.find((one) => one === parameters.get('per')) ?? 'model';
  const answer = useAnswer('tracer', 'GET /api/v1/metrics/usage', {
    query: { timeRange: range, groupBy },
  });
  return (
    <>
      <label className="row traces-choice">
        By
        <select value={groupBy} onChange={({ target }) => onSet({ per: target.value })}>
          {groupings.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <Answered query={answer}>
        {({ usage, totals }) =>
          usage.length === 0 ? (
            <Empty title="No call of a model in this time">
              <p>Calls through the gateway are counted here, and spans with gen_ai attributes.</p>
            </Empty>
          ) : (
            <>
              <p>
                {formatCount(totals.calls)} calls, {formatCount(totals.inputTokens)} tokens in,{' '}
                {formatCount(totals.outputTokens)} out, {formatDollars(totals.costUsd)}{' '}
                <span className="faint">
                  for the {formatCount(totals.pricedCalls)} that have a price
                </span>
              </p>
              <SortableTable
                columns={columnsOf(groupBy, Math.max(1, totals.inputTokens + totals.outputTokens))}
                rows={usage}
                keyOf={({ key }) => key}
                sortedBy="Tokens in"
              />
            </>
          )
        }
      </Answered>
    </>
  );
}

function columnsOf(groupBy: string, allTokens: number): readonly SortableColumn<Usage>[] {
  return [
    { title: groupBy, value: ({ key }) => key },
    count('Calls', ({ calls }) => calls),
    count('Tokens in', ({ inputTokens }) => inputTokens),
    count('Tokens out', ({ outputTokens }) => outputTokens),
    {
      title: 'Of all tokens',
      value: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
      cell: ({ inputTokens, outputTokens }) => (
        <span className="duration-rail">
          <span
            className="duration-bar"
            style={{ width: `${((inputTokens + outputTokens) / allTokens) * 100}%` }}
          />
        </span>
      ),
    },
    {
      title: 'Cost',
      value: ({ costUsd }) => costUsd,
      cell: ({ costUsd, pricedCalls }) =>
        pricedCalls === 0 ? <span className="faint">no price known</span> : formatDollars(costUsd),
    },
  ];
}

function count(title: string, value: (row: Usage) => number): SortableColumn<Usage> {
  return { title, value, cell: (row) => formatCount(value(row)) };
}
