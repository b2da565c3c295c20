import type { TraceDetail, TraceSpan } from '../../tracer/schemas/trace-answers.ts';
import { plain } from '../output.ts';

/** Where a waterfall is drawn. */
export interface Canvas {
  /** Characters in a line. */
  readonly columns: number;
  readonly hasColours: boolean;
}

/**
 * A trace's spans as lines, each below its parent with a bar where it ran: full on the critical path,
 * light beside it. Names cannot steer the terminal.
 */
export function drawWaterfall(detail: TraceDetail, canvas: Canvas): string[] {
  const rows = orderSpans(detail.spans);
  const totalUs = Math.max(
    1,
    ...detail.spans.map(({ offsetUs, durationUs }) => offsetUs + durationUs),
  );
  const services = [...new Set(detail.spans.map(({ service }) => service))];
  const widths = widthsOf(rows, canvas);
  return rows.map((row) => {
    const paint = painter(canvas, services.indexOf(row.span.service));
    return drawRow(row, { totalUs, widths, paint, hasColours: canvas.hasColours });
  });
}

/** Microseconds for people: three digits and a unit. */
export function formatDuration(microseconds: number): string {
  if (microseconds < 1000) return `${microseconds} µs`;
  if (microseconds < 1_000_000) return `${threeDigits(microseconds / 1000)} ms`;
  if (microseconds < 60_000_000) return `${threeDigits(microseconds / 1_000_000)} s`;
  const seconds = Math.round(microseconds / 1_000_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

interface Row {
  readonly span: TraceSpan;
  readonly depth: number;
}

interface Widths {
  readonly service: number;
  readonly name: number;
  readonly bar: number;
}

interface Drawing {
  readonly totalUs: number;
  readonly widths: Widths;
  readonly paint: (text: string) => string;
  readonly hasColours: boolean;
}

const depthMax = 16;
const durationWidth = 11;
const marksWidth = 4;

/** Parents before their children, these by start; a span whose parent is not here is a root. */
function orderSpans(spans: readonly TraceSpan[]): Row[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = new Map<string | undefined, TraceSpan[]>();
  for (const span of spans.toSorted((a, b) => a.offsetUs - b.offsetUs)) {
    const { parentSpanId } = span;
    const parent = parentSpanId !== undefined && ids.has(parentSpanId) ? parentSpanId : undefined;
    const siblings = below.get(parent);
    if (siblings) siblings.push(span);
    else below.set(parent, [span]);
  }
  const rows = descend(below, below.get(undefined) ?? []);
  // Spans that are each other's parents hang below no root.
  const reached = new Set(rows.map(({ span }) => span.spanId));
  const rest = spans.filter(({ spanId }) => !reached.has(spanId));
  return [...rows, ...rest.map((span) => ({ span, depth: 0 }))];
}

function descend(
  below: ReadonlyMap<string | undefined, readonly TraceSpan[]>,
  roots: readonly TraceSpan[],
): Row[] {
  const rows: Row[] = [];
  const stack: Row[] = roots.toReversed().map((span) => ({ span, depth: 0 }));
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    const { depth } = row;
    const children = below.get(row.span.spanId) ?? [];
    stack.push(...children.toReversed().map((span) => ({ span, depth: depth + 1 })));
  }
  return rows;
}

function widthsOf(rows: readonly Row[], { columns }: Canvas): Widths {
  const free = Math.max(48, columns) - durationWidth - marksWidth - 4;
  const service = Math.min(
    longest(rows.map(({ span }) => span.service.length)),
    Math.floor(free / 5),
  );
  const wanted = longest(rows.map(({ span, depth }) => indent(depth).length + span.name.length));
  const name = Math.min(wanted, Math.floor((free * 2) / 5));
  return { service, name, bar: free - service - name };
}

function longest(lengths: readonly number[]): number {
  return lengths.reduce((a, b) => Math.max(a, b), 0);
}

function drawRow({ span, depth }: Row, { totalUs, widths, paint, hasColours }: Drawing): string {
  const service = paint(fit(plain(span.service), widths.service));
  const name = fit(indent(depth) + plain(span.name), widths.name);
  const bar = paint(drawBar(span, { totalUs, width: widths.bar }));
  const duration = formatDuration(span.durationUs).padStart(durationWidth - 1);
  const marks = marksOf(span, hasColours);
  return `${service} ${name} ${bar} ${duration} ${marks}${tokensOf(span)}`.trimEnd();
}

function drawBar(
  { offsetUs, durationUs, onCriticalPath }: TraceSpan,
  { totalUs, width }: { readonly totalUs: number; readonly width: number },
): string {
  const cell = (microseconds: number) => Math.round((microseconds / totalUs) * width);
  const start = Math.max(0, Math.min(width - 1, cell(offsetUs)));
  const end = Math.max(start + 1, Math.min(width, cell(offsetUs + durationUs)));
  const fill = onCriticalPath ? '█' : '░';
  return (' '.repeat(start) + fill.repeat(end - start)).padEnd(width);
}

/** `*` is on the critical path, `!` failed. */
function marksOf(
  { onCriticalPath, status, statusMessage }: TraceSpan,
  hasColours: boolean,
): string {
  const path = onCriticalPath ? '*' : ' ';
  if (status === 'success') return path;
  const message = statusMessage === undefined ? '' : ` ${plain(statusMessage)}`;
  const failure = `!${status === 'timeout' ? ' timeout' : ''}${message}`;
  return path + (hasColours ? `\u001B[31m${failure}\u001B[0m` : failure);
}

/** Tokens of a call of a model, in and out. */
function tokensOf({ tags }: TraceSpan): string {
  const read = (name: string) => {
    const value = tags[`gen_ai.usage.${name}`];
    return typeof value === 'number' ? value : undefined;
  };
  const input = read('input_tokens');
  const output = read('output_tokens');
  if (input === undefined && output === undefined) return '';
  return ` ${input ?? 0}→${output ?? 0} tokens`;
}

const colours = [36, 33, 35, 32, 34, 96, 93, 95] as const;

function painter({ hasColours }: Canvas, index: number): (text: string) => string {
  if (!hasColours) return (text) => text;
  const colour = colours[index % colours.length];
  return (text) => `\u001B[${colour}m${text}\u001B[0m`;
}

/** Two spaces a level; deep ones stay at the bound. */
function indent(depth: number): string {
  return '  '.repeat(Math.min(depth, depthMax));
}

function fit(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text.padEnd(width);
}

function threeDigits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
