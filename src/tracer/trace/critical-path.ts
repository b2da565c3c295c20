import { isQueued } from './calls.ts';
import type { SpanHead } from './span.ts';
import type { SpanTree, TreeNode } from './tree.ts';

/** A stretch of time and the span that the trace waited for in it; no span is no instrumentation. */
export interface PathSection<S extends SpanHead = SpanHead> {
  readonly node: TreeNode<S> | undefined;
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
 * A tree does not say which sibling caused which: of siblings that ran at once the path names the
 * last to end.
 */
export function criticalPathOf<S extends SpanHead>(tree: SpanTree<S>): CriticalPath<S> {
  const top = topOf(tree);
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
    if (next.children.length > 0) frames.push(frameOf(next, startUs, endUs));
    else sections.push({ node: next, fromUs: startUs, toUs: endUs });
  }
  if (sections.length === 0)
    sections.push({ node: tree.roots[0], fromUs: top.startUs, toUs: top.endUs });
  return { startUs: top.startUs, endUs: top.endUs, sections: sections.toReversed() };
}

/** How much of its parent's time a sibling may reach into the one that waited for it. */
const tolerance = 0.01;

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
    toleranceUs: (endUs - startUs) * tolerance,
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
