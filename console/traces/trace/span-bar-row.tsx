import { memo, type ReactNode } from 'react';
import type { Span } from '../parts/answers.ts';
import { formatMicros } from '../parts/durations.ts';
import { hueStyle } from '../parts/hue-style.ts';
import type { SpanRow } from './span-rows.ts';
import { barOf, type TimeWindow } from './time-window.ts';
import type { PathEntry } from './use-waterfall.ts';

/** Deeper rows are not moved further to the right: their names would have no room. */
const depthMax = 14;
const indentPx = 12;

export interface SpanBarRowProps {
  readonly id: string;
  readonly row: SpanRow<Span>;
  readonly top: number;
  readonly window: TimeWindow;
  readonly hue: number | undefined;
  /** What it has of the critical path. */
  readonly entry: PathEntry | undefined;
  readonly isChosen: boolean;
  readonly isOpen: boolean;
  /** Something is searched for, and it does not say it. */
  readonly isDimmed: boolean;
  readonly onChoose: (key: string) => void;
  readonly onToggle: (key: string) => void;
}

/** A span of a waterfall: its name, and its bar where it was in time. */
export const SpanBarRow = memo(function SpanBarRow(props: SpanBarRowProps): ReactNode {
  const { id, row, top, hue, isChosen, isOpen, onChoose } = props;
  const { key, span, depth, below } = row;
  return (
    // The keys are the tree's, which has the focus.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isChosen}
      aria-expanded={below > 0 ? isOpen : undefined}
      aria-label={labelOf(span)}
      className={classesOf(props)}
      style={{ transform: `translateY(${top}px)`, ...hueStyle(hue) }}
      onClick={() => onChoose(key)}
    >
      <Name {...props} />
      <Bar span={span} window={props.window} entry={props.entry} />
    </div>
  );
});

function Name({ row, isOpen, onToggle }: SpanBarRowProps): ReactNode {
  const { key, span, depth, below } = row;
  return (
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
            onToggle(key);
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
  );
}

type BarProps = Pick<SpanBarRowProps, 'window' | 'entry'> & { readonly span: Span };

function Bar({ span, window, entry }: BarProps): ReactNode {
  const bar = barOf(span, window);
  if (bar === undefined) return <div className="span-time" />;
  const end = bar.start + bar.length;
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

function classesOf({ row, isChosen, isDimmed }: SpanBarRowProps): string {
  const { span, isOrphan } = row;
  return [
    'span-row',
    isChosen ? 'chosen' : '',
    span.onCriticalPath ? 'on-path' : '',
    span.status === 'success' ? '' : 'failed',
    isOrphan ? 'orphan' : '',
    isDimmed ? 'dimmed' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function labelOf({ service, name, durationUs, status, onCriticalPath }: Span): string {
  const path = onCriticalPath ? ', on the critical path' : '';
  return `${service}: ${name}, ${formatMicros(durationUs)}, ${status}${path}`;
}
