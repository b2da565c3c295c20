import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { InputOf } from '../../api/contracts.ts';
import { read } from '../parts/reading.ts';
import { intervalsOf, pointOf, type Interval, type Point } from './series.ts';

type TraceQuery = NonNullable<InputOf<'tracer', 'GET /api/v1/traces'>['query']>;

/** Which traces a series is about. */
export type SeriesFilter = Pick<TraceQuery, 'name' | 'agentId' | 'status'>;

const intervalCount = 20;
/** Of an interval at most so many traces are read; their number is known besides. */
export const sampleSize = 500;

/** How a range went, from its traces one by one: the tracer's counters tell only its sum. */
export function useSeries(range: Interval, filter: SeriesFilter): UseQueryResult<readonly Point[]> {
  return useQuery({
    queryKey: ['tracer', 'series', range, filter],
    queryFn: () =>
      Promise.all(intervalsOf(range, intervalCount).map((interval) => readPoint(interval, filter))),
    staleTime: 30_000,
  });
}

async function readPoint(interval: Interval, filter: SeriesFilter): Promise<Point> {
  const sample = await read('GET /api/v1/traces', {
    query: {
      ...filter,
      startTime: new Date(interval.fromMs).toISOString(),
      endTime: new Date(interval.toMs - 1).toISOString(),
      limit: sampleSize,
    },
  });
  return pointOf(interval, sample);
}
