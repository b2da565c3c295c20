import { criticalPathOf, lastingPath, type CriticalPath } from '../trace/critical-path.ts';
import { intervalOf } from '../trace/summary.ts';
import type { SpanTree } from '../trace/tree.ts';
import { pathTimes, type PathTimes } from './path-times.ts';
import { projectedTree } from './projected-tree.ts';
import { isPoint, stepsOf, type Step, type Change } from './what-if-steps.ts';

/** A trace as it would have been. */
export interface Projection {
  readonly totalUs: number;
  readonly projectedUs: number;
  /** How many spans each change names, in the order of the changes. */
  readonly matches: readonly number[];
  /** Of the critical path that it would have had. */
  readonly onPath: PathTimes;
}

/**
 * Replays a trace with some spans faster or slower. Every span begins as long after the siblings that
 * had ended before it as it did, and ends as long after its children as it did; of this own work of
 * its parent's the factor is taken too. So what ran at once still does, and a span that nobody waited
 * for saves nothing. Nobody waits for what a queue delivers, nor does a parent for a child that
 * outlasts it: it begins as it did, and the trace lasts until the last of all has ended. No more is
 * saved than the critical path has of what is faster, and nothing that is faster makes it longer.
 */
export function projectChanges(
  tree: SpanTree,
  path: CriticalPath,
  changes: readonly Change[],
): Projection {
  const { steps, matches } = stepsOf(tree, path, changes);
  for (const step of steps.toReversed()) replay(step);
  const projected = projectedTree(tree, steps);
  const totalUs = path.endUs - path.startUs;
  const lastsUs = totalUs + durationOf(projected) - durationOf(tree);
  const shortestUs = totalUs - savedAtMost(steps, path);
  const longestUs = steps.some(({ factor }) => factor < 1) ? Infinity : totalUs;
  const projectedUs = Math.round(Math.min(Math.max(lastsUs, shortestUs), longestUs));
  const lasting = lastingPath(criticalPathOf(projected), projectedUs);
  return { totalUs, projectedUs, matches, onPath: pathTimes(lasting.sections) };
}

function durationOf(tree: SpanTree): number {
  const { startUs, endUs } = intervalOf(tree);
  return endUs - startUs;
}

function savedAtMost(steps: readonly Step[], path: CriticalPath): number {
  const onPath = pathTimes(path.sections);
  let savedUs = 0;
  for (const { node, factor } of steps) {
    if (node && factor > 1) savedUs += (onPath.get(node.span.spanId) ?? 0) * (1 - 1 / factor);
  }
  return savedUs;
}

/** Of those that end at once one of no length is last. */
function endsEarlier(a: Step, b: Step): number {
  return a.endsUs - b.endsUs || Number(isPoint(a)) - Number(isPoint(b)) || a.fromUs - b.fromUs;
}

/** What has ended when another begins is played before it. */
function beginsEarlier(a: Step, b: Step): number {
  return a.fromUs - b.fromUs || Number(isPoint(b)) - Number(isPoint(a));
}

/** Finds how long a step takes and when its children begin, once it is known how long they take. */
function replay(step: Step): void {
  const { children, factor, fromUs, toUs } = step;
  const byEnd = children.filter(({ isQueued }) => !isQueued).toSorted(endsEarlier);
  let endedUs = fromUs;
  let latestUs = 0;
  let next = 0;
  const takeEnded = (untilUs: number, before?: Step) => {
    for (let child = byEnd[next]; child && child !== before; child = byEnd[next]) {
      if (child.endsUs > untilUs) return;
      endedUs = Math.max(endedUs, child.endsUs);
      latestUs = Math.max(latestUs, waitedUntil(child));
      next += 1;
    }
  };
  const finish = () => {
    takeEnded(toUs);
    step.lastsUs = latestUs + (toUs - endedUs) / factor;
    latestUs = step.lastsUs;
    endedUs = toUs;
  };
  let isOver = false;
  for (const child of children.toSorted(beginsEarlier)) {
    if (!isOver && child.fromUs > toUs) {
      finish();
      isOver = true;
    }
    takeEnded(child.fromUs, child);
    const waitsUs = (child.fromUs - endedUs) / (isOver ? child.gapFactor : factor);
    const leadUs = (fromUs - child.fromUs) * ratioOf(child);
    child.beginsUs = child.fromUs < fromUs ? -leadUs : latestUs + waitsUs;
  }
  if (!isOver) finish();
}

/** How long a step takes by how long it took. */
function ratioOf(step: Step): number {
  return isPoint(step) ? 1 : step.lastsUs / (step.toUs - step.fromUs);
}

/** When others went on, in the projection. */
function waitedUntil(step: Step): number {
  return step.beginsUs + step.lastsUs - (step.toUs - step.endsUs) * ratioOf(step);
}
