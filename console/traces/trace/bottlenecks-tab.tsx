import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { formatCount, formatDuration } from '../../ui/text.ts';
import type { Bottlenecks, Trace } from '../parts/answers.ts';
import { Shapes } from './shapes.tsx';
import { WhatIfButton } from './what-if-button.tsx';
import { WhatIfForm } from './what-if-form.tsx';

type Bottleneck = Bottlenecks['bottlenecks'][number];

export interface BottlenecksTabProps {
  readonly trace: Trace;
  readonly onShowSpan: (spanId: string) => void;
}

/** Where the time went, what to do about it, and what that would bring. */
export function BottlenecksTab({ trace, onShowSpan }: BottlenecksTabProps): ReactNode {
  const { traceId } = trace;
  const found = useAnswer('tracer', 'GET /api/v1/traces/:traceId/bottlenecks', {
    params: { traceId },
  });
  return (
    <div className="stack bottlenecks">
      <Answered query={found}>
        {(answer) => (
          <>
            <Verdict answer={answer} />
            {answer.bottlenecks.map((one) => (
              <BottleneckCard
                // A span may be a bottleneck for several reasons.
                key={`${one.spanId} ${one.reason}`}
                bottleneck={one}
                traceId={traceId}
                onShowSpan={onShowSpan}
              />
            ))}
            <Shapes shapes={answer.shapes} total={answer.totalShapes} onShowSpan={onShowSpan} />
          </>
        )}
      </Answered>
      <WhatIfForm trace={trace} onShowSpan={onShowSpan} />
    </div>
  );
}

const performanceTones: Readonly<Record<Bottlenecks['overallPerformance'], Tone>> = {
  good: 'good',
  degraded: 'warning',
  poor: 'bad',
};

const severityTones: Readonly<Record<Bottleneck['severity'], Tone>> = {
  low: 'neutral',
  medium: 'warning',
  high: 'bad',
  critical: 'bad',
};

const reasons: Readonly<Partial<Record<Bottleneck['reason'], string>>> = {
  error: 'It failed, and none of its children did.',
  slow: 'Its own work took unusually long.',
  share: 'Its own work is more than half of the trace.',
};

function Verdict({ answer }: { readonly answer: Bottlenecks }): ReactNode {
  const { overallPerformance, totalBottlenecks, bottlenecks } = answer;
  if (totalBottlenecks === 0) {
    return (
      <Empty title="No bottleneck">
        <p>Nothing in this trace failed or took unusually long.</p>
      </Empty>
    );
  }
  const shown =
    bottlenecks.length < totalBottlenecks ? `, the first ${bottlenecks.length} here` : '';
  return (
    <p className="row">
      <Badge state={overallPerformance} tone={performanceTones[overallPerformance]} />
      {formatCount(totalBottlenecks)} {totalBottlenecks === 1 ? 'bottleneck' : 'bottlenecks'}
      {shown}
    </p>
  );
}

interface BottleneckCardProps {
  readonly bottleneck: Bottleneck;
  readonly traceId: string;
  readonly onShowSpan: (spanId: string) => void;
}

function BottleneckCard({ bottleneck, traceId, onShowSpan }: BottleneckCardProps): ReactNode {
  const { spanId, name, service, severity, reason, recommendations } = bottleneck;
  return (
    <article className="card stack" aria-label={`${service}: ${name}`}>
      <header className="row">
        <Badge state={severity} tone={severityTones[severity]} />
        <h2>
          {service}: {name}
        </h2>
        <span className="faint">{reasons[reason] ?? reason}</span>
      </header>
      <p className="evidence">{tellEvidence(bottleneck)}</p>
      <ul>
        {recommendations.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <div className="row">
        <button type="button" onClick={() => onShowSpan(spanId)}>
          Show in waterfall
        </button>
        <WhatIfButton traceId={traceId} change={{ spanId, factor: 2 }} />
      </div>
    </article>
  );
}

function tellEvidence(bottleneck: Bottleneck): string {
  const { duration, expectedDuration, slowdownFactor, basis, savingMs } = bottleneck;
  const { percentOfTrace, onCriticalPath } = bottleneck;
  const usual =
    basis === 'history'
      ? `usually ${formatDuration(expectedDuration)} by its own history`
      : `${formatDuration(expectedDuration)} expected by this trace alone`;
  const factor = slowdownFactor > 1 ? `, ${slowdownFactor} times as long` : '';
  const place = onCriticalPath ? 'on the critical path' : 'off the critical path';
  return `${formatDuration(duration)}; ${usual}${factor}. ${percentOfTrace} % of the trace, ${place}; at most ${formatDuration(savingMs)} to save.`;
}
