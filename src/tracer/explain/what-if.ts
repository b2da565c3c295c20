import type { CriticalPath } from '../trace/critical-path.ts';
import type { SpanTree } from '../trace/tree.ts';
import type { PathTimes } from './path-times.ts';
import { isPoint, stepsOf, topStep, type Step } from './what-if-steps.ts';

/** One supposition: a span, or every span of an operation, is `factor` times as fast. */
export interface Change {
  readonly spanId?: string | undefined;
  /** With or without `operation`; both absent and no span names nothing. */
  readonly service?: string | undefined;
  readonly operation?: string | undefined;
  /** Above 0; below 1 is slower, 1 changes nothing. */
  readonly factor: number;
  /** `whole`: with everything below it, so that its duration is divided. `own`: its own work only. */
  readonly extent: 'whole' | 'own';
}

/** A trace as it would have been. */
export interface Projection {
  readonly totalUs: number;
  readonly projectedUs: number;
  /** How many spans each change names, in the order of the changes. */
  readonly matches: readonly number[];
  /** Of the critical path that it would have had; with the time in which no span ran: all of it. */
  readonly onPath: PathTimes;
}

/**
 * Replays a trace with some spans faster or slower. Every span begins as long after the siblings that
 * had ended before it as it did, and ends as long after its children as it did; of this own work of
 * its parent's the factor is taken too. So what ran at once still does, and a span that nobody waited
 * for saves nothing. What was not waited for at all (a consumer's work, a child that outlasted its
 * parent) is cut as in the critical path, and not projected.
 */
export function projectChanges(
  tree: SpanTree,
  path: CriticalPath,
  changes: readonly Change[],
): Projection {
  const { tops, steps, matches } = stepsOf(tree, path, changes);
  const top = topStep(path, tops);
  for (const step of steps.toReversed()) replay(step);
  replay(top);
  return {
    totalUs: path.endUs - path.startUs,
    projectedUs: Math.round(top.lastsUs),
    matches,
    onPath: projectedPath(top),
  };
}

/** Of those that end at once the one on the path is last, but for one of no length. */
function endsEarlier(a: Step, b: Step): number {
  return (
    a.toUs - b.toUs ||
    Number(isPoint(a)) - Number(isPoint(b)) ||
    Number(a.isOnPath) - Number(b.isOnPath) ||
    a.fromUs - b.fromUs
  );
}

/** Finds how long a step takes, once that is known of all below it. */
function replay(step: Step): void {
  const { children, factor, fromUs, toUs } = step;
  const byEnd = children.toSorted(endsEarlier);
  let endedUs = fromUs;
  let latest: Step | undefined;
  let next = 0;
  const takeEnded = (untilUs: number, before?: Step) => {
    for (let child = byEnd[next]; child && child !== before; child = byEnd[next]) {
      if (child.toUs > untilUs) return;
      endedUs = child.toUs;
      if (endOf(child) >= endOf(latest)) latest = child;
      next += 1;
    }
  };
  for (const child of children) {
    takeEnded(child.fromUs, child);
    child.after = latest;
    child.waitsUs = (child.fromUs - endedUs) / factor;
    child.beginsUs = endOf(latest) + child.waitsUs;
  }
  takeEnded(toUs);
  step.last = latest;
  step.tailUs = (toUs - endedUs) / factor;
  step.lastsUs = endOf(latest) + step.tailUs;
}

function endOf(step: Step | undefined): number {
  return step ? step.beginsUs + step.lastsUs : 0;
}

/** Follows what was waited for back from the end. */
function projectedPath(top: Step): PathTimes {
  const times = new Map<string, number>();
  const open = [top];
  for (let step = open.pop(); step; step = open.pop()) {
    let ownUs = step.tailUs;
    for (let child = step.last; child; child = child.after) {
      ownUs += child.waitsUs;
      open.push(child);
    }
    const spanId = step.span?.spanId;
    if (spanId !== undefined) times.set(spanId, (times.get(spanId) ?? 0) + ownUs);
  }
  return times;
}
