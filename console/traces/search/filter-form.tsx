import { useId, useState, type ReactNode, type SubmitEvent } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Field } from '../../ui/field.tsx';
import { fromLocalTime, toLocalTime } from '../../ui/local-time.ts';
import { noFilters, type Filters, type RangeName, type Status } from './filters.ts';

export interface FilterFormProps {
  readonly filters: Filters;
  readonly onSearch: (filters: Filters) => void;
}

const ranges: readonly (readonly [RangeName, string])[] = [
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['custom', 'From … to …'],
];

const statuses: readonly (readonly [Status | '', string])[] = [
  ['', 'Any'],
  ['success', 'Success'],
  ['error', 'Error'],
  ['timeout', 'Timeout'],
];

/** What to search for; texts are searched for on Enter, choices at once. */
export function FilterForm({ filters, onSearch }: FilterFormProps): ReactNode {
  const [known, setKnown] = useState(filters);
  const [draft, setDraft] = useState(filters);
  // Another search, such as one that the way back leads to, replaces what was written.
  if (known !== filters) {
    setKnown(filters);
    setDraft(filters);
  }
  const set = (part: Partial<Filters>) => setDraft({ ...draft, ...part });
  const choose = (part: Partial<Filters>) => onSearch({ ...draft, ...part, page: 1 });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    choose({});
  };
  return (
    <search>
      <form className="card filters" onSubmit={submit} aria-label="Filters">
        <SuggestedTexts draft={draft} onSet={set} />
        <Field label="Status">
          <select
            value={draft.status}
            onChange={({ target }) => choose({ status: target.value as Status | '' })}
          >
            {statuses.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </Field>
        <Field label="At least">
          <input
            value={draft.min}
            placeholder="200ms"
            onChange={({ target }) => set({ min: target.value })}
          />
        </Field>
        <Field label="At most">
          <input
            value={draft.max}
            placeholder="1.5s"
            onChange={({ target }) => set({ max: target.value })}
          />
        </Field>
        <Times draft={draft} onSet={set} onChoose={choose} />
        <div className="row filter-buttons">
          <button type="submit" className="primary">
            Search
          </button>
          <button
            type="button"
            onClick={() => onSearch({ ...noFilters, size: filters.size, isLive: filters.isLive })}
          >
            Clear
          </button>
        </div>
      </form>
    </search>
  );
}

interface DraftProps {
  readonly draft: Filters;
  readonly onSet: (part: Partial<Filters>) => void;
}

function SuggestedTexts({ draft, onSet }: DraftProps): ReactNode {
  const services = useAnswer('tracer', 'GET /api/services');
  const names = useAnswer('tracer', 'GET /api/v1/metrics/aggregate', {
    query: { timeRange: '7d', groupBy: 'operation', limit: 500 },
  });
  const agents = useAnswer('tracer', 'GET /api/v1/metrics/aggregate', {
    query: { timeRange: '7d', groupBy: 'agent', limit: 500 },
  });
  return (
    <>
      <SuggestedText
        label="Service"
        value={draft.service}
        suggestions={services.data?.data ?? []}
        onChange={(service) => onSet({ service })}
      />
      <SuggestedText
        label="Operation"
        value={draft.name}
        suggestions={names.data?.aggregations.map(({ key }) => key) ?? []}
        onChange={(name) => onSet({ name })}
      />
      <SuggestedText
        label="Agent"
        value={draft.agentId}
        suggestions={agents.data?.aggregations.map(({ key }) => key) ?? []}
        onChange={(agentId) => onSet({ agentId })}
      />
    </>
  );
}

interface SuggestedTextProps {
  readonly label: string;
  readonly value: string;
  readonly suggestions: readonly string[];
  readonly onChange: (value: string) => void;
}

function SuggestedText({ label, value, suggestions, onChange }: SuggestedTextProps): ReactNode {
  const id = useId();
  return (
    <Field label={label}>
      <input
        value={value}
        list={id}
        placeholder="Any"
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {suggestions.map((suggestion) => (
          <option key={suggestion}>{suggestion}</option>
        ))}
      </datalist>
    </Field>
  );
}

interface TimesProps extends DraftProps {
  readonly onChoose: (part: Partial<Filters>) => void;
}

function Times({ draft, onSet, onChoose }: TimesProps): ReactNode {
  const { range, from, to } = draft;
  return (
    <>
      <Field label="Time">
        <select
          value={range}
          onChange={({ target }) => onChoose({ range: target.value as RangeName })}
        >
          {ranges.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      {range === 'custom' ? (
        <>
          <Field label="From">
            <input
              type="datetime-local"
              step="1"
              defaultValue={toLocalTime(from)}
              onChange={({ target }) => onSet({ from: fromLocalTime(target.value) })}
            />
          </Field>
          <Field label="To">
            <input
              type="datetime-local"
              step="1"
              defaultValue={toLocalTime(to)}
              onChange={({ target }) => onSet({ to: fromLocalTime(target.value) })}
            />
          </Field>
        </>
      ) : null}
    </>
  );
}
