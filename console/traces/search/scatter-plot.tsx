import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { formatDuration } from '../../ui/text.ts';
import type { TraceSummary } from '../parts/answers.ts';
import { formatClock } from '../parts/times.ts';
import { useWidth } from '../parts/use-width.ts';
import { scaleOf } from './scatter.ts';

const height = 150;
const margin = { left: 64, right: 14, top: 10, bottom: 22 };

/** Traces by when they began and how long they took; each dot opens its trace. */
export function ScatterPlot({ traces }: { readonly traces: readonly TraceSummary[] }): ReactNode {
  const [frame, width] = useWidth();
  const scale = useMemo(
    () =>
      scaleOf(
        traces.map(({ startTime, duration }) => ({
          timeMs: Date.parse(startTime),
          durationMs: duration,
        })),
      ),
    [traces],
  );
  if (traces.length === 0) return null;
  const xOf = (share: number) => margin.left + share * (width - margin.left - margin.right);
  const yOf = (share: number) =>
    height - margin.bottom - share * (height - margin.top - margin.bottom);
  // Five do not fit beside each other on a phone.
  const times = width < 480 ? scale.timesMs.filter((_, at) => at % 2 === 0) : scale.timesMs;
  return (
    <section className="card scatter" ref={frame} aria-label="Durations over time">
      <svg width={width} height={height}>
        {scale.durationsMs.map((ms) => {
          const y = yOf(scale.place(0, ms).y);
          return (
            <g key={ms} className="axis">
              <line x1={margin.left} x2={width - margin.right} y1={y} y2={y} />
              <text x={margin.left - 8} y={y + 4} textAnchor="end">
                {ms === 0 ? '0' : formatDuration(ms)}
              </text>
            </g>
          );
        })}
        {times.map((ms, at) => (
          <text
            key={ms}
            className="axis"
            x={xOf(scale.place(ms, 1).x)}
            y={height - 4}
            textAnchor={at === times.length - 1 ? 'end' : 'middle'}
          >
            {formatClock(ms)}
          </text>
        ))}
        {traces.map((trace) => {
          const { x, y } = scale.place(Date.parse(trace.startTime), trace.duration);
          return <TraceDot key={trace.traceId} trace={trace} x={xOf(x)} y={yOf(y)} />;
        })}
      </svg>
    </section>
  );
}

interface TraceDotProps {
  readonly trace: TraceSummary;
  readonly x: number;
  readonly y: number;
}

/** The list below leads to the same traces, so that the keyboard need not go from dot to dot. */
function TraceDot({ trace, x, y }: TraceDotProps): ReactNode {
  const { traceId, name, service, duration, status, spans } = trace;
  const title = `${service}: ${name}, ${formatDuration(duration)}, ${spans} spans, ${status}`;
  return (
    <Link href={`/${traceId}`} tabIndex={-1} aria-label={title}>
      <circle
        cx={x}
        cy={y}
        r={Math.min(9, 3 + Math.log10(Math.max(1, spans)) * 1.5)}
        className={status === 'success' ? 'dot' : 'dot failed'}
      >
        <title>{title}</title>
      </circle>
    </Link>
  );
}
