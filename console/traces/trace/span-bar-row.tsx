import type { ReactNode } from 'react';
import type { Span } from '../parts/answers.ts';
import { formatMicros } from '../parts/durations.ts';
import { hueStyle } from '../parts/hue-style.ts';
import type { SpanRow } from './span-rows.ts';
import { barOf } from './time-window.ts';
import type { WaterfallState } from './use-waterfall.ts';

/** Deeper rows are not moved further to the right: their names would have no room. */
const depthMax = 14;
const indentPx = 12;

export interface SpanBarRowProps {
  readonly id: string;
  readonly row: SpanRow<Span>;
  readonly top: number;
  readonly state: WaterfallState;
}

/** A span of a waterfall: its name, and its bar where it was in time. */
export function SpanBarRow({ id, row, top, state }: SpanBarRowProps): ReactNode {
  const { key, span, depth, below } = row;
  const isChosen = state.chosen?.key === key;
  const isOpen = !state.collapsed.has(key);
  return (
    // The keys are the tree's, which has the focus.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isChosen}
      aria-expanded={below > 0 ? isOpen : undefined}
      aria-label={labelOf(span)}
      className={classesOf(row, state)}
      style={{ transform: `translateY(${top}px)`, ...hueStyle(state.hues.get(span.service)) }}
      onClick={() => state.choose(key)}
    >
      <div
        className="span-name"
        style={{ paddingLeft: Math.min(depth, depthMax) * indentPx }}
        title={`${span.service}: ${span.name}`}
      >
        {below > 0 ? (
          <button
            type="button"
            className="quiet twist"
            tabIndex={-1}
            aria-label={isOpen ? 'Collapse' : `Expand ${below} spans`}
            onClick={(event) => {
              event.stopPropagation();
              state.toggleRow(key);
            }}
          >
            {isOpen ? '▾' : '▸'}
          </button>
        ) : (
          <span className="twist" />
        )}
        {span.status === 'success' ? null : <span className="error-mark">!</span>}
        <span className="span-service">{span.service}</span> {span.name}
        {isOpen ? null : <span className="faint"> +{below}</span>}
      </div>
      <Bar span={span} state={state} />
    </div>
  );
}

function Bar({ span, state }: { readonly span: Span; readonly state: WaterfallState }): ReactNode {
  const bar = barOf(span, state.window);
  if (bar === undefined) return <div className="span-time" />;
  const end = bar.start + bar.length;
  const entry = state.path.get(span.spanId);
  const label = formatMicros(span.durationUs);
  return (
    <div className="span-time">
      <span
        className="span-bar"
        style={{ left: `${bar.start * 100}%`, width: `${bar.length * 100}%` }}
        title={
          entry ? `${entry.duration} ms on the critical path, ${entry.percentOfTotal} %` : undefined
        }
      />
      {end > 0.8 ? (
        <span className="span-label" style={{ right: `${(1 - bar.start) * 100}%` }}>
          {bar.start > 0.1 ? label : ''}
        </span>
      ) : (
        <span className="span-label" style={{ left: `${end * 100}%` }}>
          {label}
        </span>
      )}
    </div>
  );
}

function classesOf({ key, span, isOrphan }: SpanRow<Span>, state: WaterfallState): string {
  const { matches, chosen } = state;
  return [
    'span-row',
    chosen?.key === key ? 'chosen' : '',
    span.onCriticalPath ? 'on-path' : '',
    span.status === 'success' ? '' : 'failed',
    isOrphan ? 'orphan' : '',
    matches && !matches.has(key) ? 'dimmed' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function labelOf({ service, name, durationUs, status, onCriticalPath }: Span): string {
  const path = onCriticalPath ? ', on the critical path' : '';
  return `${service}: ${name}, ${formatMicros(durationUs)}, ${status}${path}`;
}
