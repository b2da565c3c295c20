import { rounded } from '../traffic/meter.ts';
import type { Candidate } from './candidate.ts';
import { isLasting, whyOf } from './reasons.ts';
import type { Reason } from './strategy.ts';

/** A connection as discovery answers it: JSON in ASCII, written anew when it says something else. */
export function writeSummary(candidate: Candidate, reason: Reason, nowMs: number): string {
  const { toldText, toldFor, toldUntilMs } = candidate;
  if (toldText !== '' && toldFor === reason && nowMs < toldUntilMs) return toldText;
  // Joined to a text in one piece: it is sent many times.
  const text = [candidate.head.json, writeRest(candidate, reason, nowMs)].join('');
  candidate.toldText = isLasting(candidate, reason, nowMs) ? text : '';
  candidate.toldFor = reason;
  candidate.toldUntilMs = trueUntilMs(candidate, nowMs);
  return text;
}

function writeRest(candidate: Candidate, reason: Reason, nowMs: number): string {
  const { head, meter, active } = candidate;
  const { requests } = meter.lastMinute(nowMs);
  const averageLatency = rounded(meter.total.averageLatency);
  const metrics = `{"requestsPerMinute":${requests},"averageLatency":${averageLatency},"activeConnections":${active}}`;
  const load = Math.round(candidate.load * 100) / 100;
  const why = whyOf(candidate, reason, nowMs);
  const uptime = uptimeOf(head.upSinceMs, nowMs);
  return `,"uptime":${uptime}},"metrics":${metrics},"load":${load},"why":"${why}"}`;
}

/** Until when time alone changes nothing: not the seconds of the uptime, nor those of the last minute. */
function trueUntilMs({ head, meter }: Candidate, nowMs: number): number {
  const { upSinceMs } = head;
  const uptimeUntilMs =
    upSinceMs === undefined ? Infinity : upSinceMs + (uptimeOf(upSinceMs, nowMs) + 1) * 1000;
  const minuteUntilMs = meter.lastMinute(nowMs).requests === 0 ? Infinity : nextSecondMs(nowMs);
  return Math.min(uptimeUntilMs, minuteUntilMs);
}

function nextSecondMs(nowMs: number): number {
  return (Math.floor(nowMs / 1000) + 1) * 1000;
}

/** Whole seconds. */
function uptimeOf(upSinceMs: number | undefined, nowMs: number): number {
  return upSinceMs === undefined ? 0 : Math.max(0, Math.floor((nowMs - upSinceMs) / 1000));
}
