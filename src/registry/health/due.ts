import { isDeepStrictEqual } from 'node:util';
import type { Connection, ConnectionChange } from '../connections/connection.ts';
import { failuresMax } from './judgement.ts';

/** How soon a failure is looked at again, so that it is known quickly whether it lasts. */
const confirmMsMax = 5_000;
/** How seldom what stays broken is looked at, unless its own interval is longer. */
const brokenMsMax = 300_000;
/** A part of each pause by which connections differ, so that they do not stay in step. */
const jitter = 0.1;

/** True when there is something that can be asked. */
export function isCheckable({ status, endpoint }: Connection): boolean {
  if (status === 'disconnected') return false;
  return 'command' in endpoint ? endpoint.command !== '' : endpoint.url !== '';
}

/**
 * When the next check is due, in milliseconds since the epoch; undefined for never. The first contact
 * is made whatever the settings say, since without it nobody knows what the server has. A stdio server
 * that nobody uses and that was well is left alone: a check would only keep its process alive. One that was
 * made by a clock that was ahead counts as made now.
 */
export function nextCheckMs(connection: Connection, nowMs: number): number | undefined {
  const { protocol, status, health, healthCheck } = connection;
  if (!isCheckable(connection)) return undefined;
  if (health.lastCheckMs === undefined) return 0;
  if (!healthCheck.enabled) return undefined;
  if (protocol === 'stdio' && status === 'idle' && health.failuresInRow === 0) return undefined;
  return (
    Math.min(health.lastCheckMs, nowMs) +
    pauseMs(connection) * (1 - jitter * phaseOf(connection.id))
  );
}

/** True when somebody changed what made it fail, or asked to begin anew: it is not waited for then. */
export function isChangedForCheck({ before, after }: ConnectionChange): boolean {
  if (!before) return true;
  if (before.endpoint !== after.endpoint && !isDeepStrictEqual(before.endpoint, after.endpoint)) {
    return true;
  }
  if (approvedAt(before) !== approvedAt(after)) return true;
  if (after.health.failuresInRow < failuresMax) return false;
  return (
    !isDeepStrictEqual(before.healthCheck, after.healthCheck) ||
    (before.status === 'error' && after.status !== 'error')
  );
}

/** 0..1, the same for an id each time. */
export function phaseOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  }
  // The last letters of ids that were made together differ only in their low bits: spread them.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 0x1_0000_0000;
}

function pauseMs({ health, healthCheck }: Connection): number {
  const intervalMs = healthCheck.interval * 1000;
  const { failuresInRow } = health;
  if (failuresInRow === 0) return intervalMs;
  if (failuresInRow < failuresMax) return Math.min(intervalMs, confirmMsMax);
  const doubled = intervalMs * 2 ** Math.min(failuresInRow - failuresMax, 20);
  return Math.max(intervalMs, Math.min(doubled, brokenMsMax));
}

function approvedAt(connection: Connection): number | undefined {
  return connection.protocol === 'stdio' ? connection.approval?.approvedAtMs : undefined;
}
