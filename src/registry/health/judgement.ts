import type {
  Connection,
  ConnectionHealth,
  ConnectionStatus,
  HealthStatus,
} from '../connections/connection.ts';
import { isRefusal, type Finding } from './finding.ts';

/** So many failures in a row make a connection's status `error`. */
export const failuresMax = 3;

/** What a connection is after something was found of it. */
export interface Judgement {
  readonly status: ConnectionStatus;
  readonly health: ConnectionHealth;
}

/** What a judgement begins from. */
export type Judged = Pick<Connection, 'status' | 'health' | 'healthCheck'>;

/** What a check found, taken into account. */
export function judgeCheck(judged: Judged, finding: Finding, nowMs: number): Judgement {
  const { health } = judged;
  const counted = {
    ...health,
    lastCheckMs: nowMs,
    checksPerformed: health.checksPerformed + 1,
    failedChecks: health.failedChecks + (finding.isAnswered ? 0 : 1),
  };
  return judge({ ...judged, health: counted }, finding, nowMs);
}

/** What a call showed: it moves the states, but is no check that failed. */
export function judgeSignal(judged: Judged, finding: Finding, nowMs: number): Judgement {
  const { upSinceMs } = judged.health;
  const { status, health } = judge(judged, finding, nowMs);
  if (upSinceMs === undefined || health.status === 'error') return { status, health };
  return { status, health: { ...health, upSinceMs } };
}

function judge(
  { status, health, healthCheck }: Judged,
  finding: Finding,
  nowMs: number,
): Judgement {
  const { reason: _reason, upSinceMs, ...kept } = health;
  if (!finding.isAnswered) {
    const failuresInRow = health.failuresInRow + 1;
    const { reason } = finding;
    return {
      status: failuresInRow >= failuresMax ? failed(status) : status,
      health: { ...kept, status: failing(failuresInRow, reason), reason, failuresInRow },
    };
  }
  const isSlow = finding.responseTimeMs > healthCheck.timeout / 2;
  return {
    status: status === 'error' ? 'active' : status,
    health: {
      ...kept,
      status: isSlow ? 'degraded' : 'healthy',
      ...(isSlow ? { reason: 'slow' } : {}),
      failuresInRow: 0,
      upSinceMs: upSinceMs ?? nowMs,
    },
  };
}

function failing(failuresInRow: number, reason: string): HealthStatus {
  return failuresInRow >= failuresMax || isRefusal(reason) ? 'error' : 'degraded';
}

function failed(status: ConnectionStatus): ConnectionStatus {
  return status === 'disconnected' ? status : 'error';
}
