import { rate, rounded } from './answers.ts';

/** A trace that is complete, as far as live metrics tell of it. */
export interface LiveTrace {
  readonly agent: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly isError: boolean;
}

/** What happens right now, which only intake knows. */
export interface LiveState {
  readonly activeTraces: number;
  readonly queuedRequests: number;
}

/** Latencies in whole milliseconds, rates 0..1. */
export interface LiveMetrics {
  /** ISO 8601. */
  readonly timestamp: string;
  readonly metrics: LiveState & {
    readonly requestsPerSecond: number;
    readonly averageLatency: number;
    readonly errorRate: number;
  };
  /** The ten busiest. */
  readonly topAgents: {
    readonly agentId: string;
    readonly requestsPerSecond: number;
    readonly averageLatency: number;
  }[];
}

const seconds = 60;
/** What is said to have taken longer began by a clock that was not set: spans are not kept for so long. */
const durationMsMax = 7 * 86_400_000;
const agentsMax = 1_000;
const topMax = 10;

/** The traces that ended within the last minute, by the second. */
export class LiveWindow {
  readonly #nowMs: () => number;
  readonly #startMs: number;
  readonly #slots = Array.from({ length: seconds }, () => new Slot());

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
    this.#startMs = nowMs();
  }

  /**
   * Counts a trace when it ended: not at all if that was over a minute ago or before the start, and at
   * present if its clock is ahead. One of more than seven days counts without its duration.
   */
  add({ agent, startMs, durationMs, isError }: LiveTrace): void {
    const nowMs = this.#nowMs();
    const endMs = Math.min(startMs + durationMs, nowMs);
    const second = Math.floor(endMs / 1_000);
    const slot = this.#slots[second % seconds];
    if (slot === undefined || second < firstSecond(nowMs) || endMs < this.#startMs) return;
    if (slot.second !== second) slot.begin(second);
    note(slot.sums, durationMs);
    if (isError) slot.errors += 1;
    let sums = slot.agents.get(agent);
    if (sums === undefined) {
      if (slot.agents.size >= agentsMax) return;
      slot.agents.set(agent, (sums = newSums()));
    }
    note(sums, durationMs);
  }

  /** What the last minute was like; right after the start, what there is of it. */
  read(state: LiveState): LiveMetrics {
    const nowMs = this.#nowMs();
    const first = firstSecond(nowMs);
    const lengthMs = Math.max(1_000, nowMs - Math.max(first * 1_000, this.#startMs));
    const slots = this.#slots.filter(({ second }) => second >= first);
    const all = newSums();
    const agents = new Map<string, Sums>();
    let errors = 0;
    for (const slot of slots) {
      merge(all, slot.sums);
      errors += slot.errors;
      for (const [agent, sums] of slot.agents) {
        const known = agents.get(agent);
        if (known === undefined) agents.set(agent, { ...sums });
        else merge(known, sums);
      }
    }
    const topAgents = [...agents]
      .toSorted(([, one], [, other]) => other.count - one.count)
      .slice(0, topMax)
      .map(([agentId, sums]) => ({ agentId, ...speedOf(sums, lengthMs) }));
    return {
      timestamp: new Date(nowMs).toISOString(),
      metrics: { ...speedOf(all, lengthMs), errorRate: rate(errors, all.count), ...state },
      topAgents,
    };
  }
}

/** In which the minute begins that ends now. */
function firstSecond(nowMs: number): number {
  return Math.floor(nowMs / 1_000) - seconds + 1;
}

interface Sums {
  count: number;
  /** Those whose duration is known, and what they took. */
  timed: number;
  durationMs: number;
}

/** One second. */
class Slot {
  second = -1;
  errors = 0;
  readonly sums = newSums();
  readonly agents = new Map<string, Sums>();

  begin(second: number): void {
    this.second = second;
    this.errors = 0;
    Object.assign(this.sums, newSums());
    this.agents.clear();
  }
}

function newSums(): Sums {
  return { count: 0, timed: 0, durationMs: 0 };
}

function note(sums: Sums, durationMs: number): void {
  sums.count += 1;
  if (durationMs > durationMsMax) return;
  sums.timed += 1;
  sums.durationMs += durationMs;
}

function merge(sums: Sums, more: Sums): void {
  sums.count += more.count;
  sums.timed += more.timed;
  sums.durationMs += more.durationMs;
}

function speedOf({ count, timed, durationMs }: Sums, lengthMs: number) {
  return {
    requestsPerSecond: rounded((count * 1_000) / lengthMs),
    averageLatency: timed > 0 ? Math.round(durationMs / timed) : 0,
  };
}
