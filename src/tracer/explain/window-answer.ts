import type { WindowComparisonAnswer } from '../schemas/explain-answers.ts';
import { toMs } from '../trace/shares.ts';
import { spanKinds } from '../trace/span.ts';
import { percentOf } from './rounding.ts';
import { compareWindows, type OperationChange, type OperationWindow } from './window.ts';

/** A stretch of time, microseconds since the epoch; the end does not belong to it. */
export interface TimeRange {
  readonly fromUs: number;
  readonly toUs: number;
}

/** What was measured in a range. */
export interface MeasuredRange {
  readonly range: TimeRange;
  readonly operations: readonly OperationWindow[];
}

const operationsMax = 200;

/** Two ranges beside each other in the words of the interface. */
export function windowAnswer(base: MeasuredRange, other: MeasuredRange): WindowComparisonAnswer {
  const lengthRatio = lengthOf(other.range) / lengthOf(base.range);
  const compared = compareWindows(base.operations, other.operations, lengthRatio);
  return {
    base: rangeEntry(base),
    other: rangeEntry(other),
    work: {
      change: toMs(compared.workChangeUs),
      bySpeed: toMs(compared.speedUs),
      byVolume: toMs(compared.workChangeUs) - toMs(compared.speedUs),
    },
    operations: compared.operations.slice(0, operationsMax).map(operationEntry),
    totalOperations: compared.operations.length,
  };
}

function lengthOf({ fromUs, toUs }: TimeRange): number {
  return toUs - fromUs;
}

function rangeEntry({ range, operations }: MeasuredRange) {
  const spans = operations.reduce((sum, { count }) => sum + count, 0);
  const errors = operations.reduce((sum, row) => sum + row.errors, 0);
  return {
    startTime: new Date(range.fromUs / 1_000).toISOString(),
    endTime: new Date(range.toUs / 1_000).toISOString(),
    spans,
    errorRate: spans === 0 ? 0 : errors / spans,
  };
}

const kindNames = Object.keys(spanKinds);

function operationEntry(change: OperationChange) {
  const { service, name, kind, base, other, duration, errorRate, speedUs, volumeUs } = change;
  return {
    service,
    name,
    kind: kindNames[kind] ?? 'unspecified',
    ...(base ? { base: windowEntry(base) } : {}),
    ...(other ? { other: windowEntry(other) } : {}),
    ...(base && other ? { percentSlower: percentOf(other.p50Us - base.p50Us, base.p50Us) } : {}),
    durationChange: duration,
    errorRateChange: errorRate,
    workChange: toMs(speedUs + volumeUs),
    workBySpeed: toMs(speedUs),
  };
}

function windowEntry({ count, errors, p50Us, p95Us, sumUs }: OperationWindow) {
  return {
    count,
    errorRate: count === 0 ? 0 : errors / count,
    averageDuration: count === 0 ? 0 : toMs(sumUs / count),
    p50Duration: toMs(p50Us),
    p95Duration: toMs(p95Us),
  };
}
