import { Fault } from '../../kit/errors.ts';
import type { JaegerQuery } from './jaeger-query.ts';
import type { SpanCriteria } from './matches-view.ts';

/** Which traces may hold a span that is asked for. Times are microseconds. */
export interface TraceFilter {
  /** Only traces with a span of this service. */
  readonly service: string | undefined;
  /** Only traces with a span of this name. */
  readonly operation: string | undefined;
  /** Only traces of which some part lies between the two. */
  readonly fromUs: number;
  readonly toUs: number;
  /** Only traces that took at least so long. */
  readonly durationUsMin: number | undefined;
  readonly limit: number;
}

export interface SearchSource {
  /**
   * Ids of traces, the newest first. It may answer too many, for each is looked into, but must not
   * leave one out within the limit.
   */
  findTraces(filter: TraceFilter): Promise<readonly string[]>;
  /** Jaeger's JSON of a trace, or `null` when no span of it meets the criteria or it is gone. */
  match(traceId: string, criteria: SpanCriteria): Promise<Buffer>;
}

export interface SearchResult {
  /** Each a trace in Jaeger's JSON, the newest first. */
  readonly traces: readonly Buffer[];
  /** Older traces were not looked into: there are too many, or the answer became too large. */
  readonly isTruncated: boolean;
}

/** How many traces one search looks into at most. */
export const candidatesMax = 1000;
const answerBytesMax = 32 * 1024 * 1024;
const abreast = 8;

/** Looks into the newest traces that may match until there are as many as asked for, or nobody waits. */
export async function searchTraces(
  source: SearchSource,
  { criteria, limit }: Pick<JaegerQuery, 'criteria' | 'limit'>,
  signal?: AbortSignal,
): Promise<SearchResult> {
  const candidates = await source.findTraces({ ...filterOf(criteria), limit: candidatesMax + 1 });
  const searched = candidates.slice(0, candidatesMax);
  const traces: Buffer[] = [];
  let bytes = 0;
  for (let start = 0; start < searched.length; start += abreast) {
    signal?.throwIfAborted();
    const ids = searched.slice(start, start + abreast);
    for (const trace of await Promise.all(ids.map((id) => match(source, id, criteria)))) {
      if (!trace) continue;
      if (traces.length === limit) return { traces, isTruncated: false };
      bytes += trace.length;
      if (bytes > answerBytesMax && traces.length > 0) return { traces, isTruncated: true };
      traces.push(trace);
    }
    if (traces.length === limit) return { traces, isTruncated: false };
  }
  return { traces, isTruncated: candidates.length > candidatesMax };
}

function filterOf({ service, operation, fromUs, toUs, durationUsMin }: SpanCriteria) {
  return { service, operation, fromUs, toUs, durationUsMin };
}

/** Undefined of a trace that does not match, or whose time to be kept ended meanwhile. */
async function match(
  source: SearchSource,
  traceId: string,
  criteria: SpanCriteria,
): Promise<Buffer | undefined> {
  try {
    const answer = await source.match(traceId, criteria);
    return answer.equals(nothing) ? undefined : answer;
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  }
}

const nothing = Buffer.from('null');
