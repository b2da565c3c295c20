import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';
import { findRows, toRows, type ModelRow } from './model-rows.ts';
import { RoutingForm } from './routing-form.tsx';

/** All models of all providers, and which of them the gateway would choose. */
export function CatalogueTab(): ReactNode {
  const [query, setQuery] = useState('');
  const listed = useAnswer('gateway', 'GET /api/v1/models');
  const providers = useAnswer('gateway', 'GET /api/v1/providers');
  return (
    <div className="stack">
      <input
        type="search"
        aria-label="Find a model"
        placeholder="Find a model by name, provider or capability"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      <Answered query={listed}>
        {({ data }) => (
          <Answered query={providers}>
            {(answer) => <Models rows={findRows(toRows(data, answer.providers), query)} />}
          </Answered>
        )}
      </Answered>
      <RoutingForm />
    </div>
  );
}

const pageSize = 100;

function Models({ rows }: { readonly rows: readonly ModelRow[] }): ReactNode {
  const [shownCount, setShownCount] = useState(pageSize);
  if (rows.length === 0) {
    return (
      <Empty title="No model is called that">
        <p>
          More come with <Link href="/new-provider">a provider</Link>, or can be{' '}
          <Link href="/local">pulled to this machine</Link>.
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Table columns={columns} rows={rows.slice(0, shownCount)} keyOf={({ id }) => id} />
      {rows.length > shownCount ? (
        <button type="button" onClick={() => setShownCount((count) => count + pageSize)}>
          Show more of {formatCount(rows.length)}
        </button>
      ) : null}
    </>
  );
}

const columns: readonly Column<ModelRow>[] = [
  { title: 'Model', cell: ({ id }) => <code>{id}</code> },
  {
    title: 'Provider',
    cell: ({ provider }) => <Link href={`/providers/${provider}`}>{provider}</Link>,
  },
  { title: 'Can', cell: ({ facts }) => facts?.capabilities.join(', ') },
  {
    title: 'Context',
    isFigure: true,
    cell: ({ facts }) => facts && formatCount(facts.contextWindow),
  },
  {
    title: 'Longest answer',
    isFigure: true,
    cell: ({ facts }) => facts?.maxOutput && formatCount(facts.maxOutput),
  },
  {
    title: '$ in / million',
    isFigure: true,
    cell: ({ facts }) => priceOf(facts, facts?.inputCostPerMToken),
  },
  {
    title: '$ out / million',
    isFigure: true,
    cell: ({ facts }) => priceOf(facts, facts?.outputCostPerMToken),
  },
];

function priceOf(facts: ModelRow['facts'], dollars: number | undefined): string {
  if (dollars === undefined) return '';
  return facts?.isPriceUnknown ? 'unknown' : formatDollars(dollars);
}
