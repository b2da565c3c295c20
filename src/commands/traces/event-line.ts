import { countOf, plain } from '../output.ts';

/** What the stream sends: of a trace, or that something was missed or refused. */
export interface StreamEvent {
  readonly type: string;
  readonly traceId?: string;
  readonly timestamp?: string;
  readonly data?: {
    readonly name: string;
    readonly duration: number;
    readonly status: string;
    readonly spans: number;
    readonly bottlenecks: number;
  };
}

/** A trace as one line, whatever it is named; undefined where an event is of none. */
export function eventLine({ traceId = '', timestamp = '', data }: StreamEvent): string | undefined {
  if (!data) return undefined;
  const { name, duration, status, spans, bottlenecks } = data;
  const figures = [`${duration} ms`.padStart(9), countOf(spans, 'span').padStart(10)];
  const found = bottlenecks > 0 ? `, ${countOf(bottlenecks, 'bottleneck')}` : '';
  return `${timestamp}  ${traceId}  ${status.padEnd(7)} ${figures.join(' ')}  ${plain(name)}${found}`;
}
