import { asciiJson } from '../../kit/answers/written-json.ts';
import type { Connection } from '../connections/connection.ts';
import { redactEndpoint } from '../connections/redaction.ts';

/** The JSON of a summary up to what changes by itself, and since when the connection is up. */
export interface SummaryHead {
  readonly json: string;
  readonly upSinceMs: number | undefined;
}

/** Writes what stays the same until the connection changes. */
export function summaryHead(connection: Connection, capabilities: readonly string[]): SummaryHead {
  const { id, name, type, protocol, status, health, metadata } = connection;
  const { createdAtMs, lastActiveAtMs } = connection;
  const { checksPerformed, failedChecks, lastCheckMs, reason, upSinceMs } = health;
  const endpoint = redactEndpoint(connection);
  const text = asciiJson({
    id,
    name,
    type,
    protocol,
    status,
    capabilities,
    ...(endpoint ? { endpoint } : {}),
    metadata,
    createdAt: new Date(createdAtMs).toISOString(),
    lastActiveAt: new Date(lastActiveAtMs).toISOString(),
    health: {
      status: health.status,
      ...(reason === undefined ? {} : { reason }),
      lastCheck: lastCheckMs === undefined ? null : new Date(lastCheckMs).toISOString(),
      errorRate: checksPerformed === 0 ? 0 : failedChecks / checksPerformed,
    },
  });
  // Without the braces that close health and summary: more follows in both.
  return { json: text.slice(0, -2), upSinceMs };
}
