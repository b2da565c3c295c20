import type { Minute } from '../traffic/minute-window.ts';
import type { Outcome } from '../traffic/traffic.ts';

const failuresInRowMax = 5;
const judgedRequestsMin = 20;
const errorRateMax = 0.5;
const minuteMs = 60_000;
const ejectionMs = 30_000;
const ejectionMsMax = 300_000;
/** An outlier that behaved this long counts as a new one. */
const forgivenAfterMs = 600_000;

/** How a connection behaved; kept only of those with failures. */
interface Behaviour {
  failuresInRow: number;
  ejections: number;
  ejectedAtMs: number;
  untilMs: number;
}

export interface Verdict {
  readonly untilMs: number;
  readonly reason: string;
}

/**
 * Judges connections by their requests. An outlier, after five failures in a row or when more than
 * half of at least twenty requests in a minute failed, is kept out for 30 s, twice as long each
 * further time, at most five minutes.
 */
export class Ejection {
  readonly #behaviours = new Map<string, Behaviour>();

  /** The verdict when this request made the connection an outlier. */
  judge(
    id: string,
    outcome: Outcome,
    context: { readonly nowMs: number; readonly lastMinute: () => Minute },
  ): Verdict | undefined {
    const known = this.#behaviours.get(id);
    // Who gave up learned nothing of the server.
    if (outcome === 'cancelled') return undefined;
    if (outcome !== 'error') {
      if (known) known.failuresInRow = 0;
      return undefined;
    }
    const behaviour = known ?? { failuresInRow: 0, ejections: 0, ejectedAtMs: 0, untilMs: 0 };
    this.#behaviours.set(id, behaviour);
    behaviour.failuresInRow += 1;
    // What was under way when it was put out says nothing new.
    if (context.nowMs < behaviour.untilMs) return undefined;
    const reason = reasonOf(behaviour, context);
    return reason === undefined ? undefined : eject(behaviour, reason, context.nowMs);
  }

  forget(id: string): void {
    this.#behaviours.delete(id);
  }
}

function reasonOf(
  behaviour: Behaviour,
  { nowMs, lastMinute }: { readonly nowMs: number; readonly lastMinute: () => Minute },
): string | undefined {
  const { failuresInRow, ejectedAtMs } = behaviour;
  if (failuresInRow >= failuresInRowMax) return `${failuresInRow} failures in a row`;
  // Until then the minute holds the failures that it was put out for before.
  if (nowMs - ejectedAtMs < minuteMs) return undefined;
  const { requests, failures } = lastMinute();
  if (requests < judgedRequestsMin || failures <= requests * errorRateMax) return undefined;
  return `${failures} of ${requests} requests in a minute failed`;
}

function eject(behaviour: Behaviour, reason: string, nowMs: number): Verdict {
  if (nowMs - behaviour.untilMs > forgivenAfterMs) behaviour.ejections = 0;
  const lengthMs = Math.min(ejectionMs * 2 ** behaviour.ejections, ejectionMsMax);
  behaviour.ejections += 1;
  behaviour.failuresInRow = 0;
  behaviour.ejectedAtMs = nowMs;
  behaviour.untilMs = nowMs + lengthMs;
  return { untilMs: behaviour.untilMs, reason };
}
