import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatDuration, formatShare } from '../../ui/text.ts';
import type { Span, Trace } from '../parts/answers.ts';
import { AttributeList } from '../parts/attribute-list.tsx';
import { formatMicros } from '../parts/durations.ts';
import { formatMoment } from '../parts/times.ts';
import { WhatIfButton } from './what-if-button.tsx';

export interface SpanPanelProps {
  readonly trace: Trace;
  readonly span: Span;
  /** The time in which no child was at work. */
  readonly selfUs: number;
  /** What of the critical path it has; undefined when it is not on it. */
  readonly pathMs: number | undefined;
  readonly onZoom: () => void;
  readonly onClose: () => void;
}

/** Everything that is known of one span. */
export function SpanPanel(props: SpanPanelProps): ReactNode {
  const { trace, span, selfUs, pathMs, onZoom, onClose } = props;
  const { name, spanId, statusMessage, tags, events = [], links = [] } = span;
  const address = `${window.location.origin}${window.location.pathname}?span=${spanId}`;
  return (
    <aside className="card span-panel" aria-label="Span">
      <header className="row">
        <h2>{name}</h2>
        <button type="button" className="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {statusMessage ? <Problem error={{ message: statusMessage }} /> : null}
      <SpanFacts span={span} selfUs={selfUs} traceUs={trace.duration * 1_000} pathMs={pathMs} />
      <div className="row panel-buttons">
        <button type="button" onClick={onZoom}>
          Zoom to it
        </button>
        <CopyButton text={spanId} label="Copy id" />
        <CopyButton text={address} label="Copy link" />
        <WhatIfButton traceId={trace.traceId} change={{ spanId, factor: 2 }} />
      </div>
      <Section title="Attributes" count={Object.keys(tags).length} isOpen>
        <AttributeList attributes={tags} />
      </Section>
      <Section title="Events" count={events.length} isOpen>
        <Events span={span} startTime={trace.startTime} />
      </Section>
      <Section title="Links" count={links.length} isOpen>
        <ul className="plain">
          {links.map((link) => (
            <li key={`${link.traceId} ${link.spanId}`}>
              <Link href={`/${link.traceId}?span=${link.spanId}`}>
                <code>
                  {link.traceId.slice(0, 8)}…/{link.spanId}
                </code>
              </Link>
              <AttributeList attributes={link.attributes} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Raw JSON" count={1}>
        <JsonView value={span} />
      </Section>
    </aside>
  );
}

interface SpanFactsProps {
  readonly span: Span;
  readonly selfUs: number;
  readonly traceUs: number;
  readonly pathMs: number | undefined;
}

function SpanFacts({ span, selfUs, traceUs, pathMs }: SpanFactsProps): ReactNode {
  const { service, agent, kind, startTime, offsetUs, durationUs, status } = span;
  const shareOfTrace = traceUs > 0 ? `, ${formatShare(durationUs / traceUs)} of the trace` : '';
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Service', service],
    ['Agent', agent],
    ['Kind', kind],
    ['Status', <Badge key="status" state={status} tone={status === 'success' ? 'good' : 'bad'} />],
    ['Started', `${formatMoment(startTime)}, ${formatMicros(offsetUs)} into the trace`],
    ['Duration', `${formatMicros(durationUs)}${shareOfTrace}`],
    ['Self time', formatMicros(selfUs)],
    ['Critical path', pathMs === undefined ? 'not on it' : `${formatDuration(pathMs)} of it`],
    ['Id', <code key="id">{span.spanId}</code>],
  ];
  return (
    <dl className="pairs">
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface SectionProps {
  readonly title: string;
  /** Where there is nothing, there is no section. */
  readonly count: number;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

function Section({ title, count, isOpen = false, children }: SectionProps): ReactNode {
  return count === 0 ? null : (
    <details open={isOpen}>
      <summary>
        {title} {count > 1 ? <span className="faint">{count}</span> : null}
      </summary>
      {children}
    </details>
  );
}

interface EventsProps {
  readonly span: Span;
  readonly startTime: string;
}

function Events({ span, startTime }: EventsProps): ReactNode {
  const startMs = Date.parse(startTime);
  return (
    <ol className="plain">
      {span.events?.map(({ name, time, attributes }, at) => (
        // Events have no ids, and their order never changes.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={at}>
          <strong>{name}</strong>{' '}
          <span className="faint">
            {formatMicros(Math.round((Date.parse(time) - startMs) * 1_000))} into the trace
          </span>
          <AttributeList attributes={attributes} />
        </li>
      ))}
    </ol>
  );
}
