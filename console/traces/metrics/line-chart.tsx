import { useMemo, useState, type PointerEvent, type ReactNode } from 'react';
import { formatMinute } from '../parts/times.ts';
import { useWidth } from '../parts/use-width.ts';
import { evenly, roundUp } from '../search/scatter.ts';

/** A line of a chart; undefined where there is no value, which leaves a gap. */
export interface Line {
  readonly title: string;
  /** Its colour is the style sheet's of that name. */
  readonly tone: 'accent' | 'good' | 'warning' | 'bad';
  readonly values: readonly (number | undefined)[];
}

export interface LineChartProps {
  readonly title: string;
  readonly timesMs: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
}

const height = 170;
const margin = { left: 66, right: 14, top: 10, bottom: 22 };

/** Values over time; what is under the pointer is told in figures. */
export function LineChart({ title, timesMs, lines, format }: LineChartProps): ReactNode {
  const [frame, width] = useWidth();
  const [at, setAt] = useState<number>();
  const step = (width - margin.left - margin.right) / Math.max(1, timesMs.length - 1);
  const point = ({ clientX, currentTarget }: PointerEvent) => {
    const { left } = currentTarget.getBoundingClientRect();
    const index = Math.round((clientX - left - margin.left) / step);
    setAt(Math.max(0, Math.min(timesMs.length - 1, index)));
  };
  return (
    <figure className="card chart" ref={frame} aria-label={`${title}: ${describe(lines, format)}`}>
      <figcaption>
        <h2>{title}</h2>
        <Figures
          timeMs={at === undefined ? undefined : timesMs[at]}
          at={at}
          lines={lines}
          format={format}
        />
      </figcaption>
      <svg
        width={width}
        height={height}
        aria-hidden="true"
        onPointerMove={point}
        onPointerLeave={() => setAt(undefined)}
      >
        <Plot timesMs={timesMs} lines={lines} format={format} width={width} step={step} at={at} />
      </svg>
    </figure>
  );
}

interface PlotProps extends Omit<LineChartProps, 'title'> {
  readonly width: number;
  /** Between two points. */
  readonly step: number;
  /** The point under the pointer. */
  readonly at: number | undefined;
}

function Plot({ timesMs, lines, format, width, step, at }: PlotProps): ReactNode {
  const top = useMemo(
    () => roundUp(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)))),
    [lines],
  );
  const bottom = height - margin.bottom;
  const xOf = (index: number) => margin.left + index * step;
  const yOf = (value: number) => bottom - (value / top) * (bottom - margin.top);
  return (
    <>
      {evenly(0, top, 5).map((value) => (
        <g key={value} className="axis">
          <line x1={margin.left} x2={width - margin.right} y1={yOf(value)} y2={yOf(value)} />
          <text x={margin.left - 8} y={yOf(value) + 4} textAnchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      <TimeAxis timesMs={timesMs} xOf={xOf} step={step} />
      {lines.map(({ title, tone, values }) => (
        <path key={title} className={`line ${tone}`} d={drawLine(values, xOf, yOf)} />
      ))}
      {at === undefined ? null : (
        <line className="crosshair" x1={xOf(at)} x2={xOf(at)} y1={margin.top} y2={bottom} />
      )}
    </>
  );
}

interface FiguresProps extends Pick<LineChartProps, 'lines' | 'format'> {
  readonly at: number | undefined;
  readonly timeMs: number | undefined;
}

function Figures({ at, timeMs, lines, format }: FiguresProps): ReactNode {
  return (
    <span className="chart-figures">
      {timeMs === undefined ? null : <span className="faint">{formatMinute(timeMs)}</span>}
      {lines.map(({ title, tone, values }) => {
        const value = at === undefined ? undefined : values[at];
        return (
          <span key={title} className={`chart-key ${tone}`}>
            {title} {value === undefined ? '' : format(value)}
          </span>
        );
      })}
    </span>
  );
}

interface TimeAxisProps {
  readonly timesMs: readonly number[];
  readonly xOf: (index: number) => number;
  readonly step: number;
}

/** A label is about as wide; those of another day have their date. */
const labelWidth = 78;

function TimeAxis({ timesMs, xOf, step }: TimeAxisProps): ReactNode {
  const every = Math.max(1, Math.ceil(labelWidth / step));
  return timesMs.map((timeMs, index) =>
    index % every === 0 && (timesMs.length - 1 - index) * step > labelWidth / 2 ? (
      <text key={timeMs} className="axis" x={xOf(index)} y={height - 4} textAnchor="start">
        {formatMinute(timeMs)}
      </text>
    ) : null,
  );
}

/** An SVG path through the values that are there; a value between two gaps is a dot. */
export function drawLine(
  values: readonly (number | undefined)[],
  xOf: (index: number) => number,
  yOf: (value: number) => number,
): string {
  return values
    .map((value, at) => {
      if (value === undefined) return '';
      const place = `${xOf(at).toFixed(1)} ${yOf(value).toFixed(1)}`;
      const isFirst = values[at - 1] === undefined;
      const isAlone = isFirst && values[at + 1] === undefined;
      return `${isFirst ? 'M' : 'L'}${place}${isAlone ? 'h0.1' : ''}`;
    })
    .join('');
}

function describe(lines: readonly Line[], format: (value: number) => string): string {
  return lines
    .map(({ title, values }) => {
      const last = values.findLast((value) => value !== undefined);
      return `${title} ${last === undefined ? 'without values' : `at last ${format(last)}`}`;
    })
    .join(', ');
}
