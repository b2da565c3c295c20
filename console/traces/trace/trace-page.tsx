import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { Refusal } from '../../api/refusal.ts';
import { Badge } from '../../ui/badge.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { formatCount, formatDollars, formatDuration } from '../../ui/text.ts';
import type { Trace } from '../parts/answers.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatMoment } from '../parts/times.ts';
import { BottlenecksTab } from './bottlenecks-tab.tsx';
import { ExportTab } from './export-tab.tsx';
import { ModelCallsTab } from './model-calls-tab.tsx';
import { StatisticsTab } from './statistics-tab.tsx';
import { useTrace } from './use-trace.ts';
import { Waterfall } from './waterfall.tsx';

const tabs = [
  ['waterfall', 'Waterfall'],
  ['bottlenecks', 'Bottlenecks'],
  ['statistics', 'Statistics'],
  ['models', 'Model calls'],
  ['export', 'Export'],
] as const;

type Tab = (typeof tabs)[number][0];

/** One trace, from several sides. */
export function TracePage({ traceId }: { readonly traceId: string }): ReactNode {
  const trace = useTrace(traceId);
  const isUnknown = trace.error instanceof Refusal && trace.error.code === 'TRACE_NOT_FOUND';
  return (
    <Page
      title={
        <span className="trace-title">
          <Link href="/">Traces</Link> / {trace.data?.name ?? traceId}
        </span>
      }
      actions={<CopyButton text={traceId} label="Copy trace id" />}
    >
      {isUnknown ? (
        <Empty title="There is no such trace">
          <p>
            {trace.error?.message}. Traces are kept for seven days.{' '}
            <Link href="/">Search traces</Link>
          </p>
        </Empty>
      ) : (
        <Answered query={trace}>{(found) => <Sides trace={found} />}</Answered>
      )}
    </Page>
  );
}

function Sides({ trace }: { readonly trace: Trace }): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const asked = parameters.get('tab');
  const [tab] = tabs.find(([name]) => name === asked) ?? tabs[0];
  const spanId = parameters.get('span') ?? undefined;
  const open = (next: Tab, span?: string) =>
    setParameters({ ...(next === 'waterfall' ? {} : { tab: next }), ...(span ? { span } : {}) });
  const showSpan = (span: string) => open('waterfall', span);
  return (
    <>
      <Facts trace={trace} />
      <div className="tabs" role="tablist" aria-label="Sides of the trace">
        {tabs.map(([name, title]) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={name === tab}
            onClick={() => open(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" aria-label={tabs.find(([name]) => name === tab)?.[1]}>
        {tab === 'waterfall' ? <Waterfall key={spanId} trace={trace} spanId={spanId} /> : null}
        {tab === 'bottlenecks' ? <BottlenecksTab trace={trace} onShowSpan={showSpan} /> : null}
        {tab === 'statistics' ? <StatisticsTab trace={trace} /> : null}
        {tab === 'models' ? <ModelCallsTab trace={trace} onShowSpan={showSpan} /> : null}
        {tab === 'export' ? <ExportTab traceId={trace.traceId} /> : null}
      </div>
    </>
  );
}

function Facts({ trace }: { readonly trace: Trace }): ReactNode {
  const { status, startTime, totalSpans, agents, error, genAi, clockSkew, isComplete } = trace;
  return (
    <>
      <dl className="facts">
        <Fact title="Status">
          <Badge state={status} tone={status === 'success' ? 'good' : 'bad'} />
        </Fact>
        <Fact title="Started">{formatMoment(startTime)}</Fact>
        <TimeSplit metrics={trace.metrics} />
        <Fact title="Spans">{formatCount(totalSpans)}</Fact>
        <Fact title="Agents">{agents.join(', ')}</Fact>
        {genAi ? (
          <Fact title="Tokens">
            {formatCount(genAi.inputTokens)} in, {formatCount(genAi.outputTokens)} out
            {genAi.costUsd > 0 ? `, ${formatDollars(genAi.costUsd)}` : ''}
          </Fact>
        ) : null}
      </dl>
      {error ? (
        <p className="problem">
          {error.agent}: {error.message || error.code}
          {error.message && error.code ? ` (${error.code})` : ''}
        </p>
      ) : null}
      {isComplete ? null : <p className="faint">Still open: spans may come yet.</p>}
      {clockSkew?.map(({ from, to, offsetUs }) => (
        <p key={`${from} ${to}`} className="faint">
          The clock of {to} contradicts that of {from}; its times were moved by{' '}
          {formatDuration(offsetUs / 1_000)}.
        </p>
      ))}
    </>
  );
}

function TimeSplit({ metrics }: Pick<Trace, 'metrics'>): ReactNode {
  const { totalDuration, processingTime, networkTime, overhead } = metrics;
  return (
    <Fact title="Duration">
      {formatDuration(totalDuration)}{' '}
      <span className="faint">
        {formatDuration(processingTime)} at work, {formatDuration(networkTime)} network,{' '}
        {formatDuration(overhead)} overhead
      </span>
    </Fact>
  );
}

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
