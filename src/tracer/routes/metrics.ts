import type { Handler } from '../../kit/http/call.ts';
import type { metricRoutes as routes } from '../schemas/metrics.ts';
import { aggregate } from '../metrics/aggregation.ts';
import { readDependencies } from '../metrics/dependencies.ts';
import { rangeOf } from '../metrics/answers.ts';
import { listErrors, type ErrorEntry } from '../series/error-log-store.ts';
import { distributeErrors } from '../metrics/error-types.ts';
import type { LiveMetrics } from '../metrics/live.ts';
import type { SeriesSql } from '../series/tables.ts';
import { readTimeline } from '../metrics/timeline.ts';
import { readUsage } from '../metrics/usage.ts';

type MetricHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** What metrics are read from. */
export interface MetricParts {
  readonly sql: SeriesSql;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly live: () => LiveMetrics;
}

/** The edge of what adds traces up. */
export function metricHandlers({ sql, nowMs, live }: MetricParts): MetricHandlers {
  return {
    aggregateMetrics: ({ query }) => aggregate(sql, query, nowMs()),
    metricTimeline: ({ query }) => readTimeline(sql, query, nowMs()),
    liveMetrics: () => live(),
    errorMetrics: ({ query }) => distributeErrors(sql, query.timeRange, nowMs()),
    usageMetrics: ({ query }) => readUsage(sql, query, nowMs()),
    dependencies: ({ query }) => readDependencies(sql, query.timeRange, nowMs()),
    listErrors: async ({ query: { timeRange, code, agentId: agent, limit, offset } }) => {
      const now = nowMs();
      const { fromMs } = rangeOf(timeRange, now);
      const page = { limit, offset };
      const query = { fromMs, toMs: now + 1, code, agent, ...page };
      const { errors, total } = await listErrors(sql, query);
      return { timeRange, errors: errors.map(toAnswer), total, ...page };
    },
  };
}

function toAnswer({ atMs, ...entry }: ErrorEntry) {
  return { timestamp: new Date(atMs).toISOString(), ...entry };
}
