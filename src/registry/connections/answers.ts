import type { Offer, ServerIdentity } from '../links/link.ts';
import type { TrafficFigures } from '../traffic/traffic.ts';
import { listCapabilities } from './capability-names.ts';
import type { Connection, ConnectionHealth } from './connection.ts';
import type { HistoryEntry } from './history.ts';
import { redactEndpoint } from './redaction.ts';

/** What is told of a connection beside what it is. */
export interface Told {
  readonly connection: Connection;
  /** What it can do, by name. */
  readonly names: readonly string[];
  readonly figures: TrafficFigures;
  /** Milliseconds since the epoch. */
  readonly lastActiveAtMs: number;
  readonly nowMs: number;
}

/** What a registration is answered with. */
export function toRegistered({ connection, names, nowMs }: Omit<Told, 'figures'>) {
  const { id, name, status, type, protocol } = connection;
  const health = toHealth(connection.health, nowMs);
  return {
    id,
    name,
    status,
    connection: { id, type, protocol, capabilities: [...names], health },
    createdAt: toTime(connection.createdAtMs),
  };
}

/** A connection as lists show it. */
export function toSummary(told: Told) {
  const { connection, names, figures, lastActiveAtMs, nowMs } = told;
  const { id, name, type, protocol, status, metadata, createdAtMs } = connection;
  const endpoint = toEndpoint(connection);
  return {
    id,
    name,
    type,
    protocol,
    status,
    capabilities: [...names],
    ...(endpoint ? { endpoint } : {}),
    health: toHealth(connection.health, nowMs),
    metrics: toMetrics(figures),
    metadata,
    createdAt: toTime(createdAtMs),
    lastActiveAt: toTime(lastActiveAtMs),
  };
}

/** A connection as whoever asks for it alone sees it. */
export function toDetail(told: Told) {
  const { connection, figures } = told;
  const { health, healthCheck, ownerId, quarantined, disconnectedAtMs } = connection;
  const { failedRequests, inconclusiveRequests, totalRequests, p95Latency } = figures;
  const errorRate = rateOf(failedRequests, totalRequests);
  const succeeded = totalRequests - failedRequests - inconclusiveRequests;
  const summary = toSummary(told);
  return {
    ...summary,
    capabilities: listCapabilities(connection).map(({ name, description = '', schema = {} }) => ({
      name,
      description,
      schema,
    })),
    health: {
      ...summary.health,
      checksPerformed: health.checksPerformed,
      failedChecks: health.failedChecks,
      failuresInRow: health.failuresInRow,
    },
    metrics: {
      ...summary.metrics,
      totalRequests,
      successRate: totalRequests === 0 ? 1 : rateOf(succeeded, totalRequests),
      p95Latency,
      errorRate,
    },
    healthCheck: { ...healthCheck },
    ownerId,
    quarantined: [...quarantined],
    ...toServer(connection),
    ...(connection.protocol === 'stdio' ? { approval: toApproval(connection) } : {}),
    ...(disconnectedAtMs === undefined ? {} : { disconnectedAt: toTime(disconnectedAtMs) }),
  };
}

/** What ending a connection is answered with. */
export function toDisconnected({ id, name, disconnectedAtMs = 0 }: Connection) {
  return {
    id,
    status: 'disconnected' as const,
    message: `The connection ${name} is disconnected`,
    disconnectedAt: toTime(disconnectedAtMs),
  };
}

/** One change of a connection. */
export function toHistoryAnswer(entry: HistoryEntry) {
  const { atMs, change, by, reason, before, after, detail } = entry;
  return {
    timestamp: toTime(atMs),
    change,
    ...(by === null ? {} : { by }),
    ...(reason === null ? {} : { reason }),
    ...(before === null ? {} : { before }),
    ...(after === null ? {} : { after }),
    ...(detail === null ? {} : { detail }),
  };
}

function toHealth(health: ConnectionHealth, nowMs: number) {
  const { status, reason, lastCheckMs, checksPerformed, failedChecks, upSinceMs } = health;
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    lastCheck: lastCheckMs === undefined ? null : toTime(lastCheckMs),
    uptime: upSinceMs === undefined ? 0 : Math.max(0, Math.floor((nowMs - upSinceMs) / 1_000)),
    errorRate: rateOf(failedChecks, checksPerformed),
  };
}

function toMetrics({ requestsPerMinute, averageLatency, activeRequests }: TrafficFigures) {
  return { requestsPerMinute, averageLatency, activeConnections: activeRequests };
}

function toServer({ server, offer, pins }: Connection) {
  return {
    ...(server ? { server: toIdentity(server) } : {}),
    ...(offer
      ? {
          offers: {
            tools: offer.tools.length,
            prompts: offer.prompts.length,
            resources: offer.resources.length,
            resourceTemplates: offer.resourceTemplates.length,
            ...toFlaws(offer),
          },
        }
      : {}),
    ...(pins ? { pins: { tools: { ...pins.tools }, pinnedAt: toTime(pins.pinnedAtMs) } } : {}),
  };
}

/** What of the server's lists did not come; nothing when all did. */
export function toFlaws(offer: Offer | undefined) {
  return offer?.flaws ? { flaws: offer.flaws.map((flaw) => ({ ...flaw })) } : {};
}

function toIdentity({ name, version, title, instructions, protocolVersion, era }: ServerIdentity) {
  return {
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(instructions === undefined ? {} : { instructions }),
    protocolVersion,
    era,
  };
}

function toApproval(connection: Connection & { readonly protocol: 'stdio' }) {
  const { approval } = connection;
  if (!approval) return { approved: false };
  const { approvedBy, approvedAtMs } = approval;
  return { approved: true, approvedBy, approvedAt: toTime(approvedAtMs) };
}

/** Copies, because answers own their arrays. */
function toEndpoint(connection: Connection) {
  const endpoint = redactEndpoint(connection);
  if (!endpoint) return undefined;
  if (!('command' in endpoint)) return { ...endpoint };
  return { ...endpoint, args: [...endpoint.args] };
}

/** 0..1; 0 of nothing. */
function rateOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
