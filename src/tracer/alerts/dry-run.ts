import { setImmediate as nextTurn } from 'node:timers/promises';
import { Histogram } from '../series/histogram.ts';
import { furtherOf, holds, valueOf, windowSeconds, type AlertCondition } from './condition.ts';
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
  /** A step before the first look. */
  readonly from: Date;
  /** The last look. */
  readonly to: Date;
  readonly firings: readonly Firing[];
  /** What it cannot see. */
  readonly warnings: readonly string[];
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
 * When an alert would have fired after `fromMs`: looked at every minute, over more than two days up to
 * every five where the window is made of such steps, the last time at the last whole minute until
 * `toMs`. Every window ends with a look and is as long as it says; what fired before the first look is
 * as if it had not.
 */
export async function runDry(
  metrics: AlertMetrics,
  condition: AlertCondition,
  { fromMs, toMs }: DryRunRange,
): Promise<DryRun> {
  const seconds = windowSeconds(condition.timeWindow);
  const isWhole = seconds % 60 === 0;
  const stepMinutes = isWhole && toMs - fromMs > minutelyMs ? coarseStep(seconds / 60) : 1;
  const stepMs = stepMinutes * minuteMs;
  const lastMs = Math.floor(toMs / minuteMs) * minuteMs;
  const evaluations = Math.max(0, Math.ceil((lastMs - fromMs) / stepMs));
  const firstMs = lastMs - evaluations * stepMs;
  const past = { firstMs, stepMinutes, evaluations, seconds };
  const firings = new Firings(condition);
  const sliding = await readWindow(metrics, condition, past);
  for (let step = 0; step < evaluations; step += 1) {
    if (step % stepsPerTurn === 0) await nextTurn();
    const at = new Date(firstMs + (step + 1) * stepMs);
    firings.look(at, sliding.moveTo(step, condition));
  }
  return {
    evaluations,
    stepMinutes,
    from: new Date(firstMs),
    to: new Date(lastMs),
    firings: firings.all,
    warnings: seconds < 60 ? [`${onlyWholeMinutes} the last ${seconds} seconds`] : [],
  };
}

const onlyWholeMinutes = 'the dry run looks at whole minutes only: of each it sees';

/** The looks of a dry run, and how long its window is. */
interface Past {
  readonly firstMs: number;
  readonly stepMinutes: number;
  readonly evaluations: number;
  readonly seconds: number;
}

async function readWindow(
  metrics: AlertMetrics,
  { agentId: agent, operation }: AlertCondition,
  { firstMs, stepMinutes, evaluations, seconds }: Past,
): Promise<SlidingWindow> {
  const stepMs = stepMinutes * minuteMs;
  const windowSteps = Math.floor(seconds / 60 / stepMinutes);
  const tailSeconds = seconds % 60;
  const atUs = (step: number) => (firstMs + step * stepMs) * 1_000;
  const scope = { agent, operation, stepMinutes };
  const wholes = { ...scope, fromUs: atUs(1 - windowSteps), toUs: atUs(evaluations) };
  const steps = windowSteps > 0 ? await metrics.series(wholes) : [];
  // Each window begins within the minute before its whole ones.
  const fromUs = atUs(-windowSteps);
  const cut = { ...scope, fromUs, toUs: atUs(evaluations - windowSteps), tailSeconds };
  const tails = tailSeconds > 0 ? await metrics.series(cut) : [];
  return new SlidingWindow({ steps, tails, firstMs, stepMs, windowSteps, seconds });
}

/** The widest that the window is made of. */
function coarseStep(windowMinutesCount: number): number {
  let step = coarseMinutesMax;
  while (windowMinutesCount % step !== 0) step -= 1;
  return step;
}

interface SlidingWindowOptions {
  readonly steps: readonly MetricStep[];
  /** Of the step before the whole ones, what the window reaches into. */
  readonly tails: readonly MetricStep[];
  readonly firstMs: number;
  readonly stepMs: number;
  readonly windowSteps: number;
  readonly seconds: number;
}

type StepsByPlace = ReadonlyMap<number, readonly MetricStep[]>;

/** What the last steps hold together; it only moves on. */
class SlidingWindow {
  readonly #steps: StepsByPlace;
  readonly #tails: StepsByPlace;
  readonly #windowSteps: number;
  readonly #seconds: number;
  readonly #durations = new Histogram();
  readonly #sums = { count: 0, errors: 0, sumUs: 0 };
  #next: number | undefined;

  constructor({ steps, tails, firstMs, stepMs, windowSteps, seconds }: SlidingWindowOptions) {
    this.#steps = byPlace(steps, { firstMs, stepMs });
    this.#tails = byPlace(tails, { firstMs, stepMs });
    this.#windowSteps = windowSteps;
    this.#seconds = seconds;
  }

  /** The metric over the window that ends with this step. */
  moveTo(step: number, { metric }: AlertCondition): number | undefined {
    const before = step - this.#windowSteps;
    for (let at = this.#next ?? before + 1; at <= step; at += 1) {
      this.#add(this.#steps.get(at), 1);
      if (this.#next === undefined) continue;
      this.#add(this.#steps.get(at - this.#windowSteps), -1);
      this.#add(this.#tails.get(at - this.#windowSteps - 1), -1);
    }
    this.#add(this.#tails.get(before), 1);
    this.#next = step + 1;
    return valueOf(metric, {
      ...this.#sums,
      seconds: this.#seconds,
      quantileUs: (q) => this.#durations.quantile(q) ?? 0,
    });
  }

  #add(steps: readonly MetricStep[] | undefined, sign: 1 | -1): void {
    for (const { count, errors, sumUs, bins, binCounts } of steps ?? []) {
      this.#sums.count += sign * count;
      this.#sums.errors += sign * errors;
      this.#sums.sumUs += sign * sumUs;
      bins.forEach((bin, at) => this.#durations.addBin(bin, sign * (binCounts[at] ?? 0)));
    }
  }
}

function byPlace(
  steps: readonly MetricStep[],
  { firstMs, stepMs }: Pick<SlidingWindowOptions, 'firstMs' | 'stepMs'>,
): StepsByPlace {
  const places = new Map<number, MetricStep[]>();
  for (const step of steps) {
    const place = Math.floor((step.startUs / 1_000 - firstMs) / stepMs);
    const parts = places.get(place) ?? [];
    parts.push(step);
    places.set(place, parts);
  }
  return places;
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
