/** What one operation did within a range of time; of each operation one row. */
export interface OperationWindow {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly count: number;
  readonly errors: number;
  /** Of the spans' durations, from a sketch that is right within 1 %. */
  readonly p50Us: number;
  readonly p95Us: number;
  readonly sumUs: number;
  /** Of the spans' self times; these, added over all operations, are the work that was done. */
  readonly selfSumUs: number;
}

/**
 * Whether a difference is more than chance: `too-few` where either range has fewer than 30 spans of
 * the operation.
 */
export type Significance = 'significant' | 'insignificant' | 'too-few';

/** One operation in both ranges; a range in which it did not run has `undefined`. */
export interface OperationChange {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly base: OperationWindow | undefined;
  readonly other: OperationWindow | undefined;
  readonly duration: Significance;
  readonly errorRate: Significance;
  /** Of the change of its work: because a call takes longer. */
  readonly speedUs: number;
  /** Of the change of its work: because it is called more often. Both add up to the whole change. */
  readonly volumeUs: number;
}

/** Two ranges of time beside each other. */
export interface WindowComparison {
  /** What changed the work most comes first. */
  readonly operations: readonly OperationChange[];
  /** All work of the other range without that of as long a base: the sum of all operations' changes. */
  readonly workChangeUs: number;
  /** Of that, because calls take longer. */
  readonly speedUs: number;
}

/**
 * Sets each operation of one range beside itself in another; the same for any order of the rows.
 * `lengthRatio` is how many times as long the other range is: by so much the base's work is taken.
 */
export function compareWindows(
  base: readonly OperationWindow[],
  other: readonly OperationWindow[],
  lengthRatio = 1,
): WindowComparison {
  const before = new Map(base.map((row) => [keyOf(row), row]));
  const after = new Map(other.map((row) => [keyOf(row), row]));
  const keys = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const operations = keys
    .flatMap((key) => changeOf(before.get(key), after.get(key), lengthRatio))
    .toSorted((a, b) => weightOf(b) - weightOf(a));
  const speedUs = operations.reduce((sum, change) => sum + change.speedUs, 0);
  const volumeUs = operations.reduce((sum, change) => sum + change.volumeUs, 0);
  return { operations, workChangeUs: speedUs + volumeUs, speedUs };
}

function keyOf({ service, name, kind }: OperationWindow): string {
  return `${service}\0${name}\0${kind}`;
}

function weightOf({ speedUs, volumeUs }: OperationChange): number {
  return Math.max(Math.abs(speedUs), Math.abs(volumeUs));
}

function changeOf(
  base: OperationWindow | undefined,
  other: OperationWindow | undefined,
  lengthRatio: number,
): OperationChange[] {
  const known = other ?? base;
  if (!known) return [];
  const { service, name, kind } = known;
  const operation = { service, name, kind, base, other };
  return [{ ...operation, ...testsOf(base, other), ...workOf(base, other, lengthRatio) }];
}

function testsOf(base: OperationWindow | undefined, other: OperationWindow | undefined) {
  if (!base || !other || base.count < spansMin || other.count < spansMin) {
    return { duration: 'too-few', errorRate: 'too-few' } as const;
  }
  return {
    duration: verdict(isSlowerOrFaster(base, other)),
    errorRate: verdict(hasOtherErrorRate(base, other)),
  };
}

const spansMin = 30;
/** Many operations are tested at once: with three standard errors one in 370 is wrong. */
const standardErrorsMin = 3;
/** Twice what the sketch may err. */
const medianChangeMin = 0.02;

function verdict(isSignificant: boolean): Significance {
  return isSignificant ? 'significant' : 'insignificant';
}

/** Compares the medians in the log domain, since durations are nearly lognormal. */
function isSlowerOrFaster(base: OperationWindow, other: OperationWindow): boolean {
  const change = Math.log(Math.max(other.p50Us, 1)) - Math.log(Math.max(base.p50Us, 1));
  const error = Math.hypot(medianErrorOf(base), medianErrorOf(other));
  return Math.abs(change) > Math.max(medianChangeMin, standardErrorsMin * error);
}

/** The standard error of a lognormal's log median, its sigma taken from how far p95 is from p50. */
function medianErrorOf({ p50Us, p95Us, count }: OperationWindow): number {
  const sigma = Math.log(Math.max(p95Us, p50Us, 1) / Math.max(p50Us, 1)) / 1.645;
  return (1.2533 * sigma) / Math.sqrt(count);
}

/** The test of two proportions with a pooled error. */
function hasOtherErrorRate(base: OperationWindow, other: OperationWindow): boolean {
  const change = other.errors / other.count - base.errors / base.count;
  const pooled = (base.errors + other.errors) / (base.count + other.count);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / base.count + 1 / other.count));
  return error > 0 && Math.abs(change) >= standardErrorsMin * error;
}

/** An operation that one range lacks has changed in volume only. */
function workOf(
  base: OperationWindow | undefined,
  other: OperationWindow | undefined,
  lengthRatio: number,
) {
  const wholeUs = (other?.selfSumUs ?? 0) - Math.round((base?.selfSumUs ?? 0) * lengthRatio);
  if (!base?.count || !other?.count) return { speedUs: 0, volumeUs: wholeUs };
  const perCallUs = other.selfSumUs / other.count - base.selfSumUs / base.count;
  const speedUs = Math.round(perCallUs * other.count);
  return { speedUs, volumeUs: wholeUs - speedUs };
}
