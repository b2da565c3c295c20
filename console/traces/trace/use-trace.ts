import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import type { Span, Trace } from '../parts/answers.ts';

const pageSpans = 10_000;
const openRefreshMs = 2_000;

/** A trace with all of its spans, asked anew while spans may still come. */
export function useTrace(traceId: string): UseQueryResult<Trace> {
  return useQuery({
    queryKey: ['tracer', 'whole trace', traceId],
    queryFn: () => readWhole(traceId),
    refetchInterval: ({ state }) =>
      state.data?.isComplete === false && state.data.totalSpans <= pageSpans
        ? openRefreshMs
        : false,
  });
}

async function readWhole(traceId: string): Promise<Trace> {
  const readFrom = (spanOffset: number) =>
    call('tracer', 'GET /api/v1/traces/:traceId', {
      params: { traceId },
      query: { spanOffset, spanLimit: pageSpans },
    });
  const first = await readFrom(0);
  const spans: Span[] = [...first.spans];
  while (spans.length < first.totalSpans) {
    const { spans: more } = await readFrom(spans.length);
    if (more.length === 0) break;
    for (const span of more) spans.push(span);
  }
  return { ...first, spans };
}
