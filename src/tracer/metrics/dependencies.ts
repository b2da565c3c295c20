import { averageMs, milliseconds, rangeOf, rate, type RangeTimes } from './answers.ts';
import { readStats } from '../series/stats.ts';
import type { SeriesSql } from '../series/tables.ts';
import type { TimeRange } from '../series/time-range.ts';

export interface DependencyNode {
  /** What edges name it by. */
  readonly serviceId: string;
  readonly serviceName: string;
  readonly requestsHandled: number;
  readonly errorRate: number;
  /** `service`, or the sort of something outside: `model`, `database`, `queue`, `external`. */
  readonly type: string;
}

/** Latencies in whole milliseconds: how long the callee took. */
export interface DependencyEdge {
  readonly from: string;
  readonly to: string;
  readonly requests: number;
  readonly averageLatency: number;
  readonly p95Latency: number;
  readonly errorRate: number;
}

export interface DependencyGraph extends RangeTimes {
  readonly nodes: DependencyNode[];
  readonly edges: DependencyEdge[];
}

const nodesMax = 2_000;
const edgesMax = 10_000;

/** Who called whom in a range, the busiest first. */
export async function readDependencies(
  sql: SeriesSql,
  timeRange: TimeRange,
  nowMs: number,
): Promise<DependencyGraph> {
  const { segments, times } = rangeOf(timeRange, nowMs);
  const [services, calls] = await Promise.all([
    readStats(sql, { kind: 'service', segments, limit: nodesMax }),
    readStats(sql, { kind: 'edge', segments, quantiles: [0.95], limit: edgesMax }),
  ]);
  const nodes = new Map<string, DependencyNode>();
  for (const { labels, count, errors } of services) {
    const [name = '', type = ''] = labels;
    const node = { ...nodeOf(name, type), requestsHandled: count, errorRate: rate(errors, count) };
    nodes.set(node.serviceId, node);
  }
  const edges = calls.map(({ labels, count, errors, sum, quantiles }): DependencyEdge => {
    const [caller = '', callee = '', type = ''] = labels;
    const [from, to] = [nodeOf(caller, 'service'), nodeOf(callee, type)];
    for (const node of [from, to]) {
      if (!nodes.has(node.serviceId)) nodes.set(node.serviceId, node);
    }
    return {
      from: from.serviceId,
      to: to.serviceId,
      requests: count,
      averageLatency: averageMs(sum, count),
      p95Latency: milliseconds(quantiles[0] ?? 0),
      errorRate: rate(errors, count),
    };
  });
  return { ...times, nodes: [...nodes.values()], edges };
}

/** Something outside may have the name of a service. */
function nodeOf(name: string, type: string): DependencyNode {
  const serviceId = type === 'service' ? name : `${type}:${name}`;
  return { serviceId, serviceName: name, requestsHandled: 0, errorRate: 0, type };
}
