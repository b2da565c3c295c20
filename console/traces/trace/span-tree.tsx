import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { formatMicros } from '../parts/durations.ts';
import { SpanBarRow } from './span-bar-row.tsx';
import { timeAt, type TimeWindow } from './time-window.ts';
import type { WaterfallState } from './use-waterfall.ts';

const rowHeight = 26;
const tickShares = [0, 0.25, 0.5, 0.75];

/** The rows of a waterfall. Only those in sight are there, so that a trace may have any number. */
export function SpanTree({ state }: { readonly state: WaterfallState }): ReactNode {
  const { visible, chosen, press } = state;
  const frame = useRef<HTMLDivElement>(null);
  // What it answers is used here alone and never kept.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count: visible.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    // The head is as high as a row, and stays above them.
    scrollMargin: rowHeight,
    scrollPaddingStart: rowHeight,
    overscan: 12,
  });
  const chosenAt = chosen ? visible.indexOf(chosen) : -1;
  useEffect(() => {
    if (chosenAt >= 0) virtual.scrollToIndex(chosenAt, { align: 'auto' });
  }, [chosenAt, virtual]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && press(event.key)) {
      event.preventDefault();
    }
  };
  return (
    <div ref={frame} className="span-tree card">
      <TimeHead window={state.window} />
      <div
        className="span-rows"
        role="tree"
        aria-label="Spans"
        tabIndex={0}
        aria-activedescendant={chosenAt >= 0 && chosen ? rowId(chosen.key) : undefined}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = visible[index];
          return row ? (
            <SpanBarRow
              key={row.key}
              id={rowId(row.key)}
              row={row}
              top={start - rowHeight}
              window={state.window}
              hue={state.hues.get(row.span.service)}
              entry={state.path.get(row.span.spanId)}
              isChosen={row === chosen}
              isOpen={!state.collapsed.has(row.key)}
              isDimmed={state.matches?.has(row.key) === false}
              onChoose={state.choose}
              onToggle={state.toggleRow}
            />
          ) : null;
        })}
      </div>
    </div>
  );
}

function TimeHead({ window }: { readonly window: TimeWindow }): ReactNode {
  return (
    <div className="span-row span-head" aria-hidden="true">
      <div className="span-name">Service and operation</div>
      <div className="span-time">
        {tickShares.map((share) => (
          <span key={share} className="tick" style={{ left: `${share * 100}%` }}>
            {formatMicros(Math.round(timeAt(share, window)))}
          </span>
        ))}
      </div>
    </div>
  );
}

function rowId(key: string): string {
  return `span-${key}`;
}
