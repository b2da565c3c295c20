import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import type { InputOf } from '../../api/contracts.ts';
import { intervalsUntil, pointOf, type Interval, type Point } from './series.ts';

type TraceQuery = NonNullable<InputOf<'tracer', 'GET /api/v1/traces'>['query']>;

/** Which traces a series is about. */
export type SeriesFilter = Pick<TraceQuery, 'name' | 'agentId' | 'status'>;

/** Of an interval at most so many traces are read; their number is known besides. */
export const sampleSize = 500;

/** The intervals of a series, up to now. */
export interface Steps {
  readonly stepMs: number;
  readonly count: number;
}

/** How a range went, from its traces one by one: the tracer's counters tell only its sum. */
export function useSeries(
  { stepMs, count }: Steps,
  filter: SeriesFilter,
): UseQueryResult<readonly Point[]> {
  return useQuery({
    queryKey: ['tracer', 'series', stepMs, count, filter],
    queryFn: () => {
      const intervals = intervalsUntil(Date.now(), stepMs, count);
      return Promise.all(intervals.map((interval) => readPoint(interval, filter)));
    },
    staleTime: 30_000,
  });
}

async function readPoint(interval: Interval, filter: SeriesFilter): Promise<Point> {
  const sample = await call('tracer', 'GET /api/v1/traces', {
    query: {
      ...filter,
      startTime: new Date(interval.fromMs).toISOString(),
      endTime: new Date(interval.toMs - 1).toISOString(),
      limit: sampleSize,
    },
  });
  return pointOf(interval, sample);
}
