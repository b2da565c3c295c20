import type { ReactNode } from 'react';
import type { Answer } from '../../api/contracts.ts';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';

type Decision = Answer<'gateway', 'POST /api/v1/route'>;
type Candidate = Decision['candidates'][number];
type Excluded = Decision['excluded'][number];

/** Where a question would go, whom else, and who was left out for what. */
export function RoutingDecisionView({ decision }: { readonly decision: Decision }): ReactNode {
  const { provider, model, taskType, taskRule, estimatedInputTokens: tokens } = decision;
  const { candidates, excluded } = decision;
  return (
    <div className="stack" aria-live="polite">
      <p>
        It would go to{' '}
        <strong>
          {provider}/{model}
        </strong>
        , taken as <em>{taskType}</em> because {taskRule}, with about {formatCount(tokens)} tokens.
      </p>
      <Table columns={candidateColumns} rows={candidates} keyOf={({ rank }) => String(rank)} />
      {excluded.length > 0 ? (
        <>
          <h3>Left out</h3>
          <Table columns={excludedColumns} rows={excluded} keyOf={targetOf} />
        </>
      ) : null}
    </div>
  );
}

function targetOf({ provider, model }: Pick<Excluded, 'provider' | 'model'>): string {
  return `${provider}/${model}`;
}

const candidateColumns: readonly Column<Candidate>[] = [
  { title: 'Rank', isFigure: true, cell: ({ rank }) => rank },
  { title: 'Model', cell: (candidate) => <code>{targetOf(candidate)}</code> },
  {
    title: 'Expected cost',
    isFigure: true,
    cell: ({ estimatedCost }) => formatDollars(estimatedCost),
  },
  { title: 'Quality', isFigure: true, cell: ({ quality }) => quality },
  { title: 'Context', isFigure: true, cell: ({ contextWindow }) => formatCount(contextWindow) },
  { title: 'Why', cell: ({ reasons }) => reasons.join('; ') },
];

const excludedColumns: readonly Column<Excluded>[] = [
  { title: 'Model', cell: (target) => <code>{targetOf(target)}</code> },
  { title: 'Rule', cell: ({ rule }) => rule },
  { title: 'Why', cell: ({ reason }) => reason },
];
