import type { ReactNode } from 'react';
import { Empty } from '../../ui/empty.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';
import { measureOf, type Measure, type SpendGroup, type SpendReport } from './measures.ts';

export interface SpendTableProps {
  readonly report: SpendReport;
  readonly measure: Measure;
  readonly onPage: (offset: number) => void;
}

/** The groups of a report with their shares, and what all of them come to. */
export function SpendTable({ report, measure, onPage }: SpendTableProps): ReactNode {
  const { spend, totals, from, to, total, limit, offset, groupBy } = report;
  if (spend.length === 0) {
    return (
      <Empty title="Nothing was spent">
        <p>
          No model answered from {from} to {to}. Ask one, or take a longer time.
        </p>
      </Empty>
    );
  }
  const whole = measureOf(totals, measure);
  return (
    <>
      <p>
        From {from} to {to}: <strong>{formatDollars(totals.dollars)}</strong> for{' '}
        {formatCount(totals.requests)} requests, {formatCount(totals.cachedRequests)} of them from
        the cache, with {formatCount(totals.inputTokens)} tokens of prompts and{' '}
        {formatCount(totals.outputTokens)} of answers.
      </p>
      <Table
        columns={columnsFor(groupBy, (group) =>
          whole === 0 ? 0 : measureOf(group, measure) / whole,
        )}
        rows={spend}
        keyOf={({ group }) => group}
      />
      <Pager offset={offset} limit={limit} total={total} onMove={onPage} />
    </>
  );
}

const figures: readonly Column<SpendGroup>[] = [
  { title: 'Requests', isFigure: true, cell: ({ requests }) => formatCount(requests) },
  {
    title: 'From the cache',
    isFigure: true,
    cell: ({ cachedRequests }) => formatCount(cachedRequests),
  },
  { title: 'Prompt tokens', isFigure: true, cell: ({ inputTokens }) => formatCount(inputTokens) },
  { title: 'Answer tokens', isFigure: true, cell: ({ outputTokens }) => formatCount(outputTokens) },
  { title: 'Cost', isFigure: true, cell: ({ dollars }) => formatDollars(dollars) },
];

const groupTitles: Readonly<Record<string, string>> = {
  day: 'Day',
  model: 'Model',
  provider: 'Provider',
  key: 'User or key',
};

function columnsFor(
  groupBy: string,
  shareOf: (group: SpendGroup) => number,
): readonly Column<SpendGroup>[] {
  return [
    { title: groupTitles[groupBy] ?? groupBy, cell: nameOf },
    { title: 'Share', cell: (group) => <Share share={shareOf(group)} /> },
    ...figures,
  ];
}

function nameOf({ group, name }: SpendGroup): ReactNode {
  return name === undefined ? (
    group
  ) : (
    <>
      {name} <span className="faint">{group}</span>
    </>
  );
}

function Share({ share }: { readonly share: number }): ReactNode {
  const percent = `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
  return (
    <span className="row">
      <svg viewBox="0 0 100 10" className="share" aria-hidden="true">
        <rect width="100" height="10" rx="2" className="share-whole" />
        <rect width={share * 100} height="10" rx="2" className="bar-shape" />
      </svg>
      <span>{percent}</span>
    </span>
  );
}
