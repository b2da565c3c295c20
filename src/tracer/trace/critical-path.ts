import { isQueued } from './calls.ts';
import type { SpanHead } from './span.ts';
import { intervalOf, type Interval } from './summary.ts';
import type { SpanTree, TreeNode } from './tree.ts';

/** A stretch of time and the span that the trace waited for in it; no span is no instrumentation. */
export interface PathSection<S extends SpanHead = SpanHead> {
  readonly node: TreeNode<S> | undefined;
  readonly fromUs: number;
  readonly toUs: number;
  /** The work without a root that it is part of. */
  readonly loose?: LooseStretch<S> | undefined;
}

/** What the path follows while no root runs: a span, as far as it is taken, with what lies below. */
export interface LooseStretch<S extends SpanHead = SpanHead> {
  readonly node: TreeNode<S>;
  readonly fromUs: number;
  readonly toUs: number;
}

/** What decided how long a trace took. */
export interface CriticalPath<S extends SpanHead = SpanHead> {
  readonly startUs: number;
  readonly endUs: number;
  /** In order of time; each begins where the one before it ends, together they fill the interval. */
  readonly sections: readonly PathSection<S>[];
}

/**
 * Walks back from the end: what a span waited for last is its child that ended last, then the last
 * one that had ended when that began. Children are clipped to their parent, what a queue delivers is
 * nobody's wait, and clocks that disagree by up to 1 % of the parent do not hide a sibling. Several
 * roots are taken as one from the earliest start to the latest end.
 *
 * Where spans go on after the roots (children that nobody waits for, what a queue delivers), the path
 * goes on to the end of the trace: it follows the span that ended last back to its start, then the one
 * that ended last before that. Time in which nothing ran has no span.
 *
 * A tree does not say which sibling caused which: of siblings that ran at once the path names the
 * last to end.
 */
export function criticalPathOf<S extends SpanHead>(tree: SpanTree<S>): CriticalPath<S> {
  const top = topOf(tree);
  const ofRoots = walkBack(top);
  const { startUs, endUs } = intervalOf(tree);
  const isWhole = tree.roots.length === 1 && top.startUs === startUs && top.endUs === endUs;
  const sections = isWhole ? ofRoots : fillIdle(outlineOf(ofRoots, top, { startUs, endUs }), tree);
  if (sections.length === 0) sections.push({ node: tree.roots[0], fromUs: startUs, toUs: endUs });
  return { startUs, endUs, sections: sections.toReversed() };
}

/** With the time before the first root and after the last, the last section first. */
function outlineOf<S extends SpanHead>(
  ofRoots: readonly PathSection<S>[],
  roots: Interval,
  whole: Interval,
): PathSection<S>[] {
  return [
    { node: undefined, fromUs: roots.endUs, toUs: whole.endUs },
    ...ofRoots,
    { node: undefined, fromUs: whole.startUs, toUs: roots.startUs },
  ].filter(takesTime);
}

/** The same path, cut or with idle time at its end, so that it lasts exactly so long. */
export function lastingPath<S extends SpanHead>(
  path: CriticalPath<S>,
  lastsUs: number,
): CriticalPath<S> {
  const { startUs, endUs } = path;
  const untilUs = startUs + lastsUs;
  if (untilUs === endUs) return path;
  const kept = [...path.sections, { node: undefined, fromUs: endUs, toUs: untilUs }]
    .map((section) => ({ ...section, toUs: Math.min(section.toUs, untilUs) }))
    .filter(takesTime);
  const [first] = path.sections;
  if (kept.length === 0 && first) kept.push({ ...first, toUs: untilUs });
  return { startUs, endUs: untilUs, sections: kept };
}

function takesTime({ fromUs, toUs }: PathSection): boolean {
  return toUs > fromUs;
}

/** The sections of a frame, the last first. */
function walkBack<S extends SpanHead>(
  top: Frame<S>,
  allowance: { children: number } = { children: Infinity },
): PathSection<S>[] {
  const sections: PathSection<S>[] = [];
  const frames = [top];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const next = previousWait(frame);
    if (next === undefined) {
      addSection(sections, frame, frame.startUs);
      frames.pop();
      continue;
    }
    const endUs = Math.min(next.span.endUs, frame.cursorUs);
    const startUs = Math.max(next.span.startUs, frame.startUs);
    addSection(sections, frame, endUs);
    frame.cursorUs = startUs;
    allowance.children -= next.children.length;
    if (next.children.length > 0 && allowance.children > 0)
      frames.push(frameOf(next, startUs, endUs));
    else sections.push({ node: next, fromUs: startUs, toUs: endUs });
  }
  return sections;
}

/** Spans may overlap so that each is walked again for every other; beyond this they are not. */
const walksPerSpan = 8;

/** Puts what ran into the sections without a span, the last first. */
function fillIdle<S extends SpanHead>(
  outline: readonly PathSection<S>[],
  tree: SpanTree<S>,
): PathSection<S>[] {
  if (outline.every(({ node }) => node)) return [...outline];
  const latest = tree.nodes
    .filter(({ parent, span }) => parent !== undefined && span.endUs > span.startUs)
    .toSorted((a, b) => b.span.endUs - a.span.endUs || a.depth - b.depth || a.index - b.index);
  const allowance = { children: tree.nodes.length * walksPerSpan };
  const sections: PathSection<S>[] = [];
  let at = 0;
  for (const section of outline) {
    if (section.node) {
      sections.push(section);
      continue;
    }
    let cursorUs = section.toUs;
    for (let node = latest[at]; node && cursorUs > section.fromUs; node = latest[at]) {
      const { startUs, endUs } = node.span;
      if (endUs <= section.fromUs) break;
      if (startUs < cursorUs) {
        const toUs = Math.min(endUs, cursorUs);
        const loose = { node, fromUs: Math.max(startUs, section.fromUs), toUs };
        if (toUs < cursorUs) sections.push({ node: undefined, fromUs: toUs, toUs: cursorUs });
        cursorUs = loose.fromUs;
        for (const part of walkBack(frameOf(node, cursorUs, toUs), allowance))
          sections.push({ ...part, loose });
      }
      // One that began before this time is the last to end in the time before, too.
      if (startUs >= section.fromUs) at += 1;
    }
    if (cursorUs > section.fromUs) sections.push({ ...section, toUs: cursorUs });
  }
  return sections;
}

/** How much of its parent's time a sibling may reach into the one that waited for it. */
export const siblingTolerance = 0.01;

interface Frame<S extends SpanHead> {
  /** Undefined stands above several roots. */
  readonly node: TreeNode<S> | undefined;
  readonly startUs: number;
  readonly endUs: number;
  /** By end, the last first. */
  readonly candidates: readonly TreeNode<S>[];
  readonly toleranceUs: number;
  nextCandidate: number;
  /** Everything from here to the end is told. */
  cursorUs: number;
}

function topOf<S extends SpanHead>(tree: SpanTree<S>): Frame<S> {
  const [first] = tree.roots;
  if (first === undefined) throw new RangeError('A trace has at least one span.');
  if (tree.roots.length === 1) return frameOf(first, first.span.startUs, first.span.endUs);
  const startUs = first.span.startUs;
  let endUs = startUs;
  for (const root of tree.roots) endUs = Math.max(endUs, root.span.endUs);
  return {
    node: undefined,
    startUs,
    endUs,
    candidates: lastFirst(tree.roots, endUs),
    // Nothing else explains the time of roots that overlap, so all of them are cut, none is hidden.
    toleranceUs: Infinity,
    nextCandidate: 0,
    cursorUs: endUs,
  };
}

function frameOf<S extends SpanHead>(node: TreeNode<S>, startUs: number, endUs: number): Frame<S> {
  return {
    node,
    startUs,
    endUs,
    candidates: lastFirst(node.children, endUs),
    toleranceUs: (endUs - startUs) * siblingTolerance,
    nextCandidate: 0,
    cursorUs: endUs,
  };
}

function lastFirst<S extends SpanHead>(
  nodes: readonly TreeNode<S>[],
  limitUs: number,
): readonly TreeNode<S>[] {
  if (nodes.length < 2) return nodes;
  return nodes.toSorted(
    (one, other) =>
      Math.min(other.span.endUs, limitUs) - Math.min(one.span.endUs, limitUs) ||
      other.index - one.index,
  );
}

/** The next child that its parent waited for. What is passed over can never be one later on. */
function previousWait<S extends SpanHead>(frame: Frame<S>): TreeNode<S> | undefined {
  while (frame.nextCandidate < frame.candidates.length) {
    const child = frame.candidates[frame.nextCandidate];
    frame.nextCandidate += 1;
    if (child !== undefined && isWaitedFor(child, frame)) return child;
  }
  return undefined;
}

function isWaitedFor<S extends SpanHead>(child: TreeNode<S>, frame: Frame<S>): boolean {
  const startUs = Math.max(child.span.startUs, frame.startUs);
  const endUs = Math.min(child.span.endUs, frame.endUs);
  if (endUs <= startUs || startUs >= frame.cursorUs) return false;
  if (frame.node !== undefined && isQueued(child.span, frame.node.span)) return false;
  return endUs - frame.cursorUs <= frame.toleranceUs;
}

function addSection<S extends SpanHead>(
  sections: PathSection<S>[],
  frame: Frame<S>,
  fromUs: number,
): void {
  if (frame.cursorUs > fromUs) sections.push({ node: frame.node, fromUs, toUs: frame.cursorUs });
}
