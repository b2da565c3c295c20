import { memo, useMemo, useState, type PointerEvent, type ReactNode } from 'react';
import type { Span } from '../parts/answers.ts';
import { hueStyle } from '../parts/hue-style.ts';
import { drawMinimap, failedLayer, minimapHeight, minimapWidth } from './minimap-paths.ts';
import type { SpanRow } from './span-rows.ts';
import { shareOf, timeAt, windowBetween, type TimeWindow } from './time-window.ts';

export interface MinimapProps {
  readonly rows: readonly SpanRow<Span>[];
  readonly whole: TimeWindow;
  readonly window: TimeWindow;
  readonly hues: ReadonlyMap<string, number>;
  readonly onZoom: (window: TimeWindow | undefined) => void;
}

/** A drag shorter than this share of the whole is a click. */
const dragMin = 0.004;

/** The whole trace in small. Dragging over a part of it shows that part; a double click shows all again. */
export const Minimap = memo(function Minimap(props: MinimapProps): ReactNode {
  const { rows, whole, window, hues, onZoom } = props;
  const paths = useMemo(
    () =>
      drawMinimap(
        rows.map(({ span }) => span),
        whole,
      ),
    [rows, whole],
  );
  const drag = useDrag((from, to) =>
    onZoom(windowBetween(timeAt(from, whole), timeAt(to, whole), whole)),
  );
  const [from, to] = drag.range ?? [shareOf(window.fromUs, whole), shareOf(window.toUs, whole)];
  const edges = [Math.min(from, to) * minimapWidth, Math.max(from, to) * minimapWidth] as const;
  return (
    // The keyboard zooms by the chosen span's panel.
    <div
      className="minimap card"
      role="presentation"
      {...drag.handlers}
      onDoubleClick={() => onZoom(undefined)}
    >
      <svg viewBox={`0 0 ${minimapWidth} ${minimapHeight}`} preserveAspectRatio="none">
        {[...paths].map(([layer, path]) => (
          <path
            key={layer}
            d={path}
            className={layer === failedLayer ? 'failed' : ''}
            style={hueStyle(hues.get(layer))}
          />
        ))}
        <rect className="shade" x={0} width={Math.max(0, edges[0])} height="100%" />
        <rect
          className="shade"
          x={edges[1]}
          width={Math.max(0, minimapWidth - edges[1])}
          height="100%"
        />
      </svg>
    </div>
  );
});

type Range = readonly [from: number, to: number];

function useDrag(onEnd: (from: number, to: number) => void) {
  const [range, setRange] = useState<Range>();
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      setRange([shareAt(event), shareAt(event)]);
    },
    onPointerMove: (event: PointerEvent) => {
      if (range) setRange([range[0], shareAt(event)]);
    },
    onPointerUp: (event: PointerEvent) => {
      if (range && Math.abs(range[0] - shareAt(event)) > dragMin) onEnd(range[0], shareAt(event));
      setRange(undefined);
    },
    onPointerCancel: () => setRange(undefined),
  };
  // A click alone shades nothing.
  const isDrag = range !== undefined && Math.abs(range[0] - range[1]) > dragMin;
  return { range: isDrag ? range : undefined, handlers };
}

function shareAt({ clientX, currentTarget }: PointerEvent): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(1, (clientX - left) / width));
}
