import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Field } from '../../ui/field.tsx';
import { CacheCard } from './cache-card.tsx';
import { DayChart } from './day-chart.tsx';
import { measures, type Measure, type SpendReport } from './measures.ts';
import { SpendTable } from './spend-table.tsx';

const groupings = [
  ['day', 'day'],
  ['model', 'model'],
  ['provider', 'provider'],
  ['key', 'user or key'],
] as const;
type Grouping = (typeof groupings)[number][0];

interface Filter {
  readonly groupBy: Grouping;
  /** Empty: since the first of this month. */
  readonly from: string;
  readonly to: string;
}

const pageSize = 100;
/** What was spent is told soon after, not at once. */
const refreshMs = 10_000;

/** What was spent, by day, model, provider or payer; and what the cache saved. */
export function SpendTab(): ReactNode {
  const [filter, setFilter] = useState<Filter>({ groupBy: 'day', from: '', to: '' });
  const [offset, setOffset] = useState(0);
  const [measure, setMeasure] = useState<Measure>();
  const query = { ...filter, limit: pageSize, offset };
  const report = useAnswer('gateway', 'GET /api/v1/spend', { query, everyMs: refreshMs });
  const change = (next: Partial<Filter>) => {
    setFilter({ ...filter, ...next });
    setOffset(0);
  };
  return (
    <div className="stack">
      <FilterFields filter={filter} onChange={change}>
        <Field label="Bars show">
          <select
            value={measure ?? measureFor(report.data)}
            onChange={({ target }) => setMeasure(measures.find((name) => name === target.value))}
          >
            {measures.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
      </FilterFields>
      <Answered query={report}>
        {(answer) => (
          <>
            {answer.groupBy === 'day' ? (
              <DayChart report={answer} measure={measure ?? measureFor(answer)} />
            ) : null}
            <SpendTable
              report={answer}
              measure={measure ?? measureFor(answer)}
              onPage={setOffset}
            />
          </>
        )}
      </Answered>
      <CacheCard />
    </div>
  );
}

/** Where all is free, requests tell more than dollars. */
function measureFor(report: SpendReport | undefined): Measure {
  return report?.totals.dollars === 0 ? 'requests' : 'dollars';
}

interface FilterFieldsProps {
  readonly filter: Filter;
  readonly onChange: (change: Partial<Filter>) => void;
  readonly children: ReactNode;
}

function FilterFields({ filter, onChange, children }: FilterFieldsProps): ReactNode {
  return (
    <div className="figures">
      <Field label="By">
        <select
          value={filter.groupBy}
          onChange={({ target }) =>
            onChange({ groupBy: groupings.find(([name]) => name === target.value)?.[0] ?? 'day' })
          }
        >
          {groupings.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      <Field label="From">
        <input
          type="date"
          value={filter.from}
          onChange={({ target }) => onChange({ from: target.value })}
        />
      </Field>
      <Field label="To">
        <input
          type="date"
          value={filter.to}
          onChange={({ target }) => onChange({ to: target.value })}
        />
      </Field>
      {children}
    </div>
  );
}
