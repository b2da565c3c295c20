import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { toFlaws } from '../connections/answers.ts';
import type { Connection, Directory } from '../connections/connection.ts';
import type { Verdict } from '../health/checker.ts';
import type { OnDemandChecks } from '../health/on-demand.ts';
import type { Links } from '../links/link.ts';
import { countConnections, type RegistryMetrics } from '../metrics/registry-metrics.ts';
import type { ProcessDiagnostics } from '../processes/diagnostics.ts';
import type { healthRoutes } from '../schemas/health.ts';
import type { TrafficFigures } from '../traffic/traffic.ts';

type Routes = typeof healthRoutes;

export interface HealthParts {
  readonly directory: Pick<Directory, 'find' | 'all'>;
  readonly checks: Pick<OnDemandChecks, 'check' | 'checkMany'>;
  readonly links: Pick<Links, 'peek'>;
  /** Of a stdio server that has or had a process here; undefined for all others. */
  readonly processDiagnostics: (connectionId: string) => Promise<ProcessDiagnostics | undefined>;
  readonly traffic: { figures(connectionId: string): Pick<TrafficFigures, 'activeRequests'> };
  /** What went through all connections. */
  readonly performance: () => {
    readonly requestsPerSecond: number;
    readonly averageLatency: number;
  };
  readonly metrics: Pick<RegistryMetrics, 'answer'>;
  /** The fields that every health answer begins with. */
  readonly health: () => { status: string; version: string; uptime: number };
  /** Rejects when the database does not answer. */
  readonly pingDatabase: () => Promise<unknown>;
}

/** The edge of health checks, and of what the registry tells of itself. */
export function healthHandlers(parts: HealthParts): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  return {
    checkHealth: ({ params }) => check(parts, params.connectionId),
    checkHealths: ({ body }) => checkMany(parts, body.connectionIds, body.timeout),
    metrics: () => parts.metrics.answer(),
    health: () => health(parts),
  };
}

async function check(parts: HealthParts, connectionId: string) {
  const connection = parts.directory.find(connectionId);
  if (!connection) {
    throw new Fault('not_found', `there is no connection ${connectionId}`, {
      reason: 'connection_not_found',
      detail: { connectionId },
    });
  }
  const verdict = await parts.checks.check(connection);
  return {
    connectionId,
    health: toHealth(verdict),
    diagnostics: await diagnose(parts, connection),
  };
}

function toHealth({ status, responseTime, timestamp, reason, message }: Verdict) {
  return {
    status,
    responseTime,
    timestamp,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

async function diagnose(parts: HealthParts, { id, protocol }: Connection) {
  const { directory, links, traffic, processDiagnostics } = parts;
  const isProcess = protocol === 'stdio';
  const found = isProcess ? await processDiagnostics(id) : undefined;
  const { processRunning, memoryUsage, cpuUsage, stderr, stdout, ...rest } = found ?? {
    processRunning: isProcess ? false : null,
  };
  const link = links.peek(id);
  return {
    processRunning,
    memoryUsage: memoryUsage ?? null,
    cpuUsage: cpuUsage ?? null,
    activeRequests: traffic.figures(id).activeRequests,
    ...rest,
    ...(stderr ? { stderrTail: stderr } : {}),
    ...(stdout ? { stdoutTail: stdout } : {}),
    linkOpen: link !== undefined,
    ...(link ? { sessionEra: link.server.era, protocolVersion: link.server.protocolVersion } : {}),
    ...toFlaws(directory.find(id)?.offer),
  };
}

async function checkMany(
  { checks }: HealthParts,
  connectionIds: readonly string[],
  timeoutMs: number | undefined,
) {
  const results = await checks.checkMany(connectionIds, timeoutMs);
  const healthy = results.filter(({ error }) => error === undefined).length;
  const total = results.length;
  return { results, summary: { total, healthy, unhealthy: total - healthy } };
}

/** The registry is as well as it can do its work; connections that fail are theirs to mend. */
async function health({ directory, health: begin, performance, pingDatabase }: HealthParts) {
  const base = begin();
  const isAnswering = await pingDatabase().then(
    () => true,
    () => false,
  );
  const { requestsPerSecond, averageLatency } = performance();
  return {
    ...base,
    status: isAnswering ? base.status : 'unhealthy',
    registry: countConnections(directory.all()),
    performance: { requestsPerSecond, averageLatency },
  };
}
