import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { Refusal } from '../../api/refusal.ts';
import { Badge } from '../../ui/badge.tsx';
import { Answered } from '../../ui/answered.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { formatCount, formatDollars, formatDuration } from '../../ui/text.ts';
import type { Trace } from '../parts/answers.ts';
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
      <TraceFacts trace={trace} />
      <Tabs label="Sides of the trace" tabs={tabs} chosen={tab} onChoose={(name) => open(name)}>
        {tab === 'waterfall' ? <Waterfall key={spanId} trace={trace} spanId={spanId} /> : null}
        {tab === 'bottlenecks' ? <BottlenecksTab trace={trace} onShowSpan={showSpan} /> : null}
        {tab === 'statistics' ? <StatisticsTab trace={trace} /> : null}
        {tab === 'models' ? <ModelCallsTab trace={trace} onShowSpan={showSpan} /> : null}
        {tab === 'export' ? <ExportTab traceId={trace.traceId} /> : null}
      </Tabs>
    </>
  );
}

function TraceFacts({ trace }: { readonly trace: Trace }): ReactNode {
  const { status, startTime, totalSpans, agents, error, genAi, clockSkew, isComplete } = trace;
  return (
    <>
      <Facts
        facts={[
          [
            'Status',
            <Badge key="status" state={status} tone={status === 'success' ? 'good' : 'bad'} />,
          ],
          ['Started', formatMoment(startTime)],
          ['Duration', <TimeSplit key="duration" metrics={trace.metrics} />],
          ['Spans', formatCount(totalSpans)],
          ['Agents', agents.join(', ')],
          ['Tokens', genAi && tellTokens(genAi)],
        ]}
      />
      {error ? (
        <Problem error={{ ...error, message: `${error.agent}: ${error.message || error.code}` }} />
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

function tellTokens({ inputTokens, outputTokens, costUsd }: NonNullable<Trace['genAi']>): string {
  const tokens = `${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out`;
  return costUsd > 0 ? `${tokens}, ${formatDollars(costUsd)}` : tokens;
}

function TimeSplit({ metrics }: Pick<Trace, 'metrics'>): ReactNode {
  const { totalDuration, processingTime, networkTime, overhead } = metrics;
  return (
    <>
      {formatDuration(totalDuration)}{' '}
      <span className="faint">
        {formatDuration(processingTime)} at work, {formatDuration(networkTime)} network,{' '}
        {formatDuration(overhead)} overhead
      </span>
    </>
  );
}
