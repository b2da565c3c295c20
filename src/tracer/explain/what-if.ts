import { isQueued } from '../trace/calls.ts';
import type { CriticalPath } from '../trace/critical-path.ts';
import type { SpanHead } from '../trace/span.ts';
import type { SpanTree, TreeNode } from '../trace/tree.ts';
import type { PathTimes } from './path-times.ts';

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
  const { steps, matches } = stepsOf(tree, path, changes);
  const top = topStep(path, steps, tree);
  for (const step of steps.toReversed()) replay(step);
  replay(top);
  return {
    totalUs: path.endUs - path.startUs,
    projectedUs: Math.round(top.lastsUs),
    matches,
    onPath: projectedPath(top),
  };
}

/** A span in a replay; times are microseconds after the start of the path. */
interface Step {
  readonly span: SpanHead | undefined;
  readonly fromUs: number;
  readonly toUs: number;
  readonly isOnPath: boolean;
  readonly factor: number;
  /** Which changes have taken hold of everything below it. */
  readonly held: readonly number[];
  /** By start. */
  readonly children: Step[];
  /** The projection, in microseconds. It begins so long after its parent, and takes so long. */
  beginsUs: number;
  lastsUs: number;
  /** Which sibling it waited for, and for how much of its parent's own work after that. */
  after: Step | undefined;
  waitsUs: number;
  /** Which child it waited for last, and how much own work it did after that. */
  last: Step | undefined;
  tailUs: number;
}

type Given = Pick<Step, 'span' | 'fromUs' | 'toUs' | 'isOnPath' | 'factor' | 'held' | 'children'>;

function stepOf(given: Given): Step {
  const unplayed = { beginsUs: 0, lastsUs: 0, waitsUs: 0, tailUs: 0 };
  return { ...given, ...unplayed, after: undefined, last: undefined };
}

function stepsOf(tree: SpanTree, path: CriticalPath, changes: readonly Change[]) {
  const ends = pathEnds(tree, path);
  const matches = changes.map(() => 0);
  const byNode = new Map<TreeNode, Step>();
  const steps: Step[] = [];
  const wholeUs = path.endUs - path.startUs;
  for (const node of tree.topDown) {
    const parent = node.parent && byNode.get(node.parent);
    const factor = factorOf(node, { changes, matches, held: parent?.held ?? [] });
    if (node.parent && !parent) continue;
    const cut = cutOf(node, parent ?? { fromUs: 0, toUs: wholeUs }, {
      startUs: path.startUs,
      pathEndUs: ends.get(node),
    });
    if (!cut) continue;
    const step = stepOf({ span: node.span, ...cut, ...factor, children: [] });
    byNode.set(node, step);
    parent?.children.push(step);
    steps.push(step);
  }
  return { steps, matches };
}

/** What of a span its parent can have waited for; undefined is nothing. */
function cutOf(
  { span, parent }: TreeNode,
  outer: Pick<Step, 'fromUs' | 'toUs'>,
  { startUs, pathEndUs }: { readonly startUs: number; readonly pathEndUs: number | undefined },
): Pick<Step, 'fromUs' | 'toUs' | 'isOnPath'> | undefined {
  const fromUs = Math.max(span.startUs - startUs, outer.fromUs);
  const toUs = Math.min(pathEndUs ?? span.endUs - startUs, outer.toUs);
  const cut = { fromUs, toUs, isOnPath: pathEndUs !== undefined };
  // A root of no length may still be where a trace begins or ends.
  if (!parent) return toUs >= fromUs ? cut : undefined;
  return toUs > fromUs && !isQueued(span, parent.span) ? cut : undefined;
}

/** When the path left a span for what came after: there the path cuts siblings that overlap. */
function pathEnds(tree: SpanTree, { sections, startUs }: CriticalPath): Map<TreeNode, number> {
  const ends = new Map<TreeNode, number>();
  for (const { node, toUs } of sections) {
    if (node) ends.set(node, Math.max(ends.get(node) ?? 0, toUs - startUs));
  }
  for (const node of tree.topDown.toReversed()) {
    const endUs = ends.get(node);
    if (endUs === undefined || !node.parent) continue;
    ends.set(node.parent, Math.max(ends.get(node.parent) ?? 0, endUs));
  }
  return ends;
}

/** A change takes hold of a span once, however many spans above it it names too. */
function factorOf(
  { span }: TreeNode,
  {
    changes,
    matches,
    held,
  }: { changes: readonly Change[]; matches: number[]; held: readonly number[] },
): { readonly factor: number; readonly held: readonly number[] } {
  let below = held;
  let factor = held.reduce((product, at) => product * (changes[at]?.factor ?? 1), 1);
  for (const [at, change] of changes.entries()) {
    if (!names(change, span)) continue;
    matches[at] = (matches[at] ?? 0) + 1;
    if (held.includes(at)) continue;
    factor *= change.factor;
    if (change.extent === 'whole') below = [...below, at];
  }
  return { factor, held: below };
}

function names({ spanId, service, operation }: Change, span: SpanHead): boolean {
  if (spanId !== undefined) return spanId === span.spanId;
  if (service === undefined && operation === undefined) return false;
  return (service ?? span.service) === span.service && (operation ?? span.name) === span.name;
}

/** What stands above the roots. */
function topStep(path: CriticalPath, steps: readonly Step[], tree: SpanTree): Step {
  const roots = new Set(tree.roots.map(({ span }) => span));
  return stepOf({
    span: undefined,
    fromUs: 0,
    toUs: path.endUs - path.startUs,
    isOnPath: true,
    factor: 1,
    held: [],
    children: steps
      .filter(({ span }) => span !== undefined && roots.has(span))
      // What has ended when another begins is played before it.
      .toSorted((a, b) => a.fromUs - b.fromUs || Number(isPoint(b)) - Number(isPoint(a))),
  });
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

function isPoint({ fromUs, toUs }: Step): boolean {
  return fromUs === toUs;
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
    if (step.span) times.set(step.span.spanId, ownUs);
  }
  return times;
}
