import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatCount, formatShare } from '../../ui/text.ts';
import { keepInEntry, keptInEntry } from '../../ui/use-kept.ts';
import type { Answer } from '../../api/contracts.ts';
import { TracesNav } from '../parts/traces-nav.tsx';
import { FilterForm } from './filter-form.tsx';
import { flawOf, noFilters, readFilters, toQuery, writeFilters, type Filters } from './filters.ts';
import { ImportButton } from './import-button.tsx';
import { useLiveTraces, type LiveState } from './live.ts';
import { Pager } from './pager.tsx';
import { ScatterPlot } from './scatter-plot.tsx';
import { TraceTable } from './trace-table.tsx';

/** Finds traces; its address is the search. */
export function SearchPage(): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const address = parameters.toString();
  const filters = useMemo(() => readFilters(new URLSearchParams(address)), [address]);
  const [askedAt, setAskedAt] = useAskedAt(address);
  const query = useMemo(() => toQuery(filters, askedAt), [filters, askedAt]);
  const flaw = flawOf(filters);
  const found = useAnswer('tracer', 'GET /api/v1/traces', { query, isEnabled: flaw === undefined });
  const { refetch } = found;
  const live = useLiveTraces(
    filters,
    useCallback(() => void refetch(), [refetch]),
  );
  const search = (changed: Filters) => {
    setAskedAt(Date.now());
    const next = writeFilters(changed);
    if (next.toString() !== address) setParameters(next);
  };
  return (
    <Page
      title="Traces"
      actions={
        <>
          <LiveSwitch
            state={live}
            isOn={filters.isLive}
            onSwitch={(isLive) => search({ ...filters, isLive, page: 1 })}
          />
          <ImportButton onImport={() => setAskedAt(Date.now())} />
          <button type="button" onClick={() => setAskedAt(Date.now())}>
            Refresh
          </button>
        </>
      }
    >
      <TracesNav />
      <FilterForm filters={filters} onSearch={search} />
      {flaw === undefined ? (
        <Answered query={found}>
          {(answer) => <Found answer={answer} filters={filters} onSearch={search} />}
        </Answered>
      ) : (
        <Problem error={{ message: flaw }} />
      )}
    </Page>
  );
}

/** When the search at an address was asked for: whoever comes back to it finds what they left. */
function useAskedAt(address: string) {
  const name = `asked at ${address}`;
  const [askedAt, setAskedAt] = useState(() => keptInEntry(name, Date.now()));
  useEffect(() => keepInEntry(name, askedAt), [name, askedAt]);
  return [askedAt, setAskedAt] as const;
}

interface FoundProps {
  readonly answer: Answer<'tracer', 'GET /api/v1/traces'>;
  readonly filters: Filters;
  readonly onSearch: (filters: Filters) => void;
}

function Found({ answer, filters, onSearch }: FoundProps): ReactNode {
  const { traces, total, isTotalCapped, errorRate } = answer;
  if (traces.length === 0 && filters.page === 1) return <NothingFound filters={filters} />;
  const count = `${isTotalCapped ? 'more than ' : ''}${formatCount(total)}`;
  return (
    <>
      <ScatterPlot traces={traces} />
      <TraceTable traces={traces} />
      <Pager
        page={filters.page}
        size={filters.size}
        total={total}
        onPage={(page, size) => onSearch({ ...filters, page, size })}
      >
        {count} {total === 1 && !isTotalCapped ? 'trace' : 'traces'}
        {errorRate === undefined ? '' : `, ${formatShare(errorRate)} of all that match otherwise`}
      </Pager>
    </>
  );
}

function NothingFound({ filters }: { readonly filters: Filters }): ReactNode {
  const { range, size, isLive } = filters;
  const isPlain =
    writeFilters(filters).toString() ===
    writeFilters({ ...noFilters, range, size, isLive }).toString();
  return isPlain ? (
    <Empty title="No traces in this time">
      <p>
        Whatever runs in the suite leaves traces here. Your own programs send theirs with
        OpenTelemetry to the tracer’s <code>/v1/traces</code>, or choose a longer time range.
      </p>
    </Empty>
  ) : (
    <Empty title="No trace matches">
      <p>Take a filter away or choose a longer time range. Names and services match as a whole.</p>
    </Empty>
  );
}

interface LiveSwitchProps {
  readonly isOn: boolean;
  readonly state: LiveState;
  readonly onSwitch: (isOn: boolean) => void;
}

function LiveSwitch({ isOn, state, onSwitch }: LiveSwitchProps): ReactNode {
  return (
    <label className={`live-switch ${state}`}>
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        aria-checked={isOn}
        onChange={({ target }) => onSwitch(target.checked)}
      />
      Live
      <output className="faint">
        {state === 'connecting' ? 'connecting …' : ''}
        {state === 'following' ? 'following' : ''}
      </output>
    </label>
  );
}
