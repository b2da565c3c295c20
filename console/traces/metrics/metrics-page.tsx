import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { TracesNav } from '../parts/traces-nav.tsx';
import { ChangesSection } from './changes-section.tsx';
import { ErrorsSection } from './errors-section.tsx';
import { LiveFigures } from './live-figures.tsx';
import { RangeChoice, readRange } from './range-choice.tsx';
import { RatesSection } from './rates-section.tsx';
import { UsageSection } from './usage-section.tsx';

const views = [
  ['rates', 'Rates and durations'],
  ['changes', 'What changed'],
  ['errors', 'Errors'],
  ['usage', 'Models: usage and cost'],
] as const;

/** Many traces added up. */
export function MetricsPage(): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const range = readRange(parameters);
  const asked = parameters.get('view');
  const [view] = views.find(([name]) => name === asked) ?? views[0];
  const set = (part: Readonly<Record<string, string>>) =>
    setParameters({ ...Object.fromEntries(parameters), ...part });
  return (
    <Page
      title="Traces"
      actions={<RangeChoice range={range} onChoose={(next) => set({ range: next })} />}
    >
      <TracesNav />
      <LiveFigures />
      <Tabs
        label="Metrics"
        tabs={views}
        chosen={view}
        onChoose={(name) => setParameters({ range, ...(name === 'rates' ? {} : { view: name }) })}
      >
        <div className="stack metrics">
          {view === 'rates' ? (
            <RatesSection range={range} parameters={parameters} onSet={set} />
          ) : null}
          {view === 'changes' ? <ChangesSection key={range} range={range} /> : null}
          {view === 'errors' ? (
            <ErrorsSection range={range} parameters={parameters} onSet={set} />
          ) : null}
          {view === 'usage' ? (
            <UsageSection range={range} parameters={parameters} onSet={set} />
          ) : null}
        </div>
      </Tabs>
    </Page>
  );
}
