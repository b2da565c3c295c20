import { setImmediate as nextTurn } from 'node:timers/promises';
import { Histogram } from '../series/histogram.ts';
import { furtherOf, holds, valueOf, windowMinutes, type AlertCondition } from './condition.ts';
import type { AlertMetrics, MetricStep } from './metric-source.ts';

/** A time in the past at which the alert would have fired. */
export interface Firing {
  readonly firedAt: Date;
  /** Absent when it would fire still. */
  readonly resolvedAt?: Date;
  /** The value furthest beyond the threshold while it fired. */
  readonly peak: number;
}

export interface DryRun {
  /** How often the condition was looked at. */
  readonly evaluations: number;
  readonly stepMinutes: number;
  readonly from: Date;
  readonly to: Date;
  readonly firings: readonly Firing[];
}

/** Milliseconds since the epoch. */
export interface DryRunRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const minuteMs = 60_000;
const minutelyMs = 2 * 24 * 60 * minuteMs;
const coarseMinutesMax = 5;
/** About a millisecond of work. */
const stepsPerTurn = 50;

/**
 * When an alert would have fired, looked at every minute, over more than two days up to every five
 * where the window is made of such steps. The beginning is rounded down to a whole step; what fired before it is as if it had not.
 */
export async function runDry(
  metrics: AlertMetrics,
  condition: AlertCondition,
  { fromMs, toMs }: DryRunRange,
): Promise<DryRun> {
  const window = windowMinutes(condition.timeWindow);
  const stepMinutes = toMs - fromMs > minutelyMs ? coarseStep(window) : 1;
  const stepMs = stepMinutes * minuteMs;
  const first = Math.floor(fromMs / stepMs);
  const last = Math.max(Math.ceil(toMs / stepMs), first + 1);
  const windowSteps = window / stepMinutes;
  const steps = await metrics.series({
    fromUs: (first - windowSteps) * stepMs * 1_000,
    toUs: last * stepMs * 1_000,
    agent: condition.agentId,
    operation: condition.operation,
    stepMinutes,
  });
  const sliding = new SlidingWindow(steps, { stepMs, windowSteps });
  const firings = new Firings(condition);
  for (let step = first; step < last; step += 1) {
    if (step % stepsPerTurn === 0) await nextTurn();
    const at = new Date(Math.min((step + 1) * stepMs, toMs));
    firings.look(at, sliding.moveTo(step, condition));
  }
  return {
    evaluations: last - first,
    stepMinutes,
    from: new Date(first * stepMs),
    to: new Date(toMs),
    firings: firings.all,
  };
}

/** The widest that the window is made of. */
function coarseStep(windowMinutesCount: number): number {
  let step = coarseMinutesMax;
  while (windowMinutesCount % step !== 0) step -= 1;
  return step;
}

/** What the last steps hold together; it only moves on. */
class SlidingWindow {
  readonly #byStep = new Map<number, MetricStep[]>();
  readonly #windowSteps: number;
  readonly #seconds: number;
  readonly #durations = new Histogram();
  readonly #sums = { count: 0, errors: 0, sumUs: 0 };
  #next: number | undefined;

  constructor(
    steps: readonly MetricStep[],
    { stepMs, windowSteps }: { readonly stepMs: number; readonly windowSteps: number },
  ) {
    this.#windowSteps = windowSteps;
    this.#seconds = (windowSteps * stepMs) / 1_000;
    for (const step of steps) {
      const place = Math.floor(step.startUs / 1_000 / stepMs);
      const parts = this.#byStep.get(place) ?? [];
      parts.push(step);
      this.#byStep.set(place, parts);
    }
  }

  /** The metric over the window that ends with this step. */
  moveTo(step: number, { metric }: AlertCondition): number | undefined {
    for (let at = this.#next ?? step - this.#windowSteps + 1; at <= step; at += 1) {
      this.#add(at, 1);
      if (this.#next !== undefined) this.#add(at - this.#windowSteps, -1);
    }
    this.#next = step + 1;
    return valueOf(metric, {
      ...this.#sums,
      seconds: this.#seconds,
      quantileUs: (q) => this.#durations.quantile(q) ?? 0,
    });
  }

  #add(place: number, sign: 1 | -1): void {
    for (const { count, errors, sumUs, bins, binCounts } of this.#byStep.get(place) ?? []) {
      this.#sums.count += sign * count;
      this.#sums.errors += sign * errors;
      this.#sums.sumUs += sign * sumUs;
      bins.forEach((bin, at) => this.#durations.addBin(bin, sign * (binCounts[at] ?? 0)));
    }
  }
}

class Firings {
  readonly #condition: AlertCondition;
  readonly #over: Firing[] = [];
  #current: { readonly firedAt: Date; peak: number } | undefined;

  constructor(condition: AlertCondition) {
    this.#condition = condition;
  }

  get all(): readonly Firing[] {
    return this.#current ? [...this.#over, this.#current] : this.#over;
  }

  look(at: Date, value: number | undefined): void {
    if (value !== undefined && holds(this.#condition, value)) {
      const peak = furtherOf(this.#condition.operator, this.#current?.peak ?? value, value);
      this.#current = { firedAt: this.#current?.firedAt ?? at, peak };
    } else if (this.#current) {
      this.#over.push({ ...this.#current, resolvedAt: at });
      this.#current = undefined;
    }
  }
}
