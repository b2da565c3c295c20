import { asciiJson } from '../../kit/written-json.ts';
import type { Connection } from '../connections/connection.ts';
import { redactEndpoint } from '../connections/redaction.ts';
import { rounded, type Meter } from '../traffic/meter.ts';
import type { Candidate } from './candidate.ts';
import { isLasting, whyOf, type Reason } from './reasons.ts';

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

/** A summary as it was written, and what it says that changes while the connection stays as it is. */
export class ToldSummary {
  readonly reason: Reason;
  readonly upSinceMs: number | undefined;
  /** Whole seconds. */
  readonly uptime: number;
  /** Of the last minute. */
  readonly requests: number;
  /** Milliseconds. */
  readonly averageLatency: number;
  readonly active: number;
  readonly text: string;

  constructor(candidate: Candidate, reason: Reason, nowMs: number) {
    const { head, meter } = candidate;
    this.reason = reason;
    this.upSinceMs = head.upSinceMs;
    this.uptime = uptimeOf(head.upSinceMs, nowMs);
    this.requests = meter.lastMinute(nowMs).requests;
    this.averageLatency = meter.total.averageLatency;
    this.active = meter.active;
    // Joined to a text in one piece: it is sent many times.
    this.text = [head.json, this.#writeRest(candidate, nowMs)].join('');
  }

  /** Whether it would be written the same by now. */
  isTrue(meter: Meter, reason: Reason, nowMs: number): boolean {
    return (
      this.reason === reason &&
      this.active === meter.active &&
      this.requests === meter.lastMinute(nowMs).requests &&
      this.averageLatency === meter.total.averageLatency &&
      this.uptime === uptimeOf(this.upSinceMs, nowMs)
    );
  }

  #writeRest(candidate: Candidate, nowMs: number): string {
    const { reason, uptime, requests, averageLatency, active } = this;
    const metrics = `{"requestsPerMinute":${requests},"averageLatency":${rounded(averageLatency)},"activeConnections":${active}}`;
    const load = Math.round(candidate.load * 100) / 100;
    const why = whyOf(candidate, reason, nowMs);
    return `,"uptime":${uptime}},"metrics":${metrics},"load":${load},"why":"${why}"}`;
  }
}

/** A connection as discovery answers it: JSON in ASCII, written anew when it says something else. */
export function writeSummary(candidate: Candidate, reason: Reason, nowMs: number): string {
  const { told, meter } = candidate;
  if (told?.isTrue(meter, reason, nowMs)) return told.text;
  const summary = new ToldSummary(candidate, reason, nowMs);
  candidate.told = isLasting(candidate, reason, nowMs) ? summary : undefined;
  return summary.text;
}

function uptimeOf(upSinceMs: number | undefined, nowMs: number): number {
  return upSinceMs === undefined ? 0 : Math.max(0, Math.floor((nowMs - upSinceMs) / 1000));
}
