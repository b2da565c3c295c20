import { isQueued } from '../trace/calls.ts';
import type { CriticalPath, LooseStretch, PathSection } from '../trace/critical-path.ts';
import type { SpanHead } from '../trace/span.ts';
import type { SpanTree, TreeNode } from '../trace/tree.ts';
import type { Change } from './what-if.ts';

/** A span in a replay; times are microseconds after the start of the path. */
export interface Step {
  readonly span: SpanHead | undefined;
  readonly fromUs: number;
  readonly toUs: number;
  readonly isOnPath: boolean;
  readonly factor: number;
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

/** The steps of a trace: those at the top, all of them with those below another after it. */
export function stepsOf(tree: SpanTree, path: CriticalPath, changes: readonly Change[]) {
  const { holds, matches } = holdsOf(tree, changes);
  const growth: Growth = { path, holds, steps: [] };
  const whole = { fromUs: path.startUs, toUs: path.endUs };
  const sections = groupSections(path);
  const tops = grow(growth, {
    nodes: tree.topDown,
    within: whole,
    sections: sections.get(undefined) ?? [],
  });
  const allowance = { nodes: tree.nodes.length * walksPerSpan };
  for (const [loose, parts] of sections) {
    if (!loose) continue;
    const within = { fromUs: loose.fromUs, toUs: Math.min(loose.toUs, path.endUs) };
    const nodes = nodesBelow(loose.node, within, allowance);
    tops.push(...grow(growth, { nodes, within, sections: parts }));
  }
  for (const aside of asideOf(tree, path))
    tops.push(...grow(growth, { nodes: [aside.node], within: aside, sections: [] }));
  return { tops, steps: growth.steps, matches };
}

/** What stands above the roots, and above what has none. */
export function topStep(path: CriticalPath, tops: readonly Step[]): Step {
  return stepOf({
    span: undefined,
    fromUs: 0,
    toUs: path.endUs - path.startUs,
    isOnPath: true,
    factor: 1,
    // What has ended when another begins is played before it.
    children: tops.toSorted(
      (a, b) => a.fromUs - b.fromUs || Number(isPoint(b)) - Number(isPoint(a)),
    ),
  });
}

/** A step that takes no time. */
export function isPoint({ fromUs, toUs }: Step): boolean {
  return fromUs === toUs;
}

type Given = Pick<Step, 'span' | 'fromUs' | 'toUs' | 'isOnPath' | 'factor' | 'children'>;

function stepOf(given: Given): Step {
  const unplayed = { beginsUs: 0, lastsUs: 0, waitsUs: 0, tailUs: 0 };
  return { ...given, ...unplayed, after: undefined, last: undefined };
}

interface Growth {
  readonly path: CriticalPath;
  readonly holds: ReadonlyMap<TreeNode, Hold>;
  /** Every step, those below another after it. */
  readonly steps: Step[];
}

/** The sections of what has roots (undefined), and of each stretch that has none. */
function groupSections({ sections }: CriticalPath) {
  const groups = new Map<LooseStretch | undefined, PathSection[]>();
  for (const section of sections) {
    if (!section.node) continue;
    const group = groups.get(section.loose);
    if (group) group.push(section);
    else groups.set(section.loose, [section]);
  }
  return groups;
}

/** Spans may overlap so that each is below every other; beyond this they are left out. */
const walksPerSpan = 8;

/** A span and what below it its time can have gone to, each after its parent. */
function nodesBelow(
  first: TreeNode,
  { fromUs, toUs }: Stretch,
  allowance: { nodes: number },
): TreeNode[] {
  const nodes = [first];
  for (const node of nodes) {
    allowance.nodes -= node.children.length;
    if (allowance.nodes <= 0) break;
    for (const child of node.children)
      if (child.span.startUs < toUs && child.span.endUs > fromUs) nodes.push(child);
  }
  return nodes;
}

/**
 * What ran after the roots beside the path: work that outlasted its parent and was not begun by what
 * the path follows there. When that gets faster, this may be what the trace ends with.
 */
function asideOf(tree: SpanTree, { sections, endUs }: CriticalPath): LooseStretch[] {
  const rootsEndUs = sections.findLast(({ node, loose }) => node && !loose)?.toUs ?? endUs;
  const followed = new Set<TreeNode | undefined>(sections.map(({ loose }) => loose?.node));
  const covered = new Set<TreeNode>();
  const aside: LooseStretch[] = [];
  for (const node of tree.topDown) {
    const { span, parent } = node;
    if (followed.has(node) || (parent && covered.has(parent))) covered.add(node);
    else if (parent && span.endUs > rootsEndUs) {
      const coveredUs = isQueued(span, parent.span) ? rootsEndUs : parent.span.endUs;
      const fromUs = Math.max(span.startUs, rootsEndUs, coveredUs);
      const toUs = Math.min(span.endUs, endUs);
      if (fromUs < toUs) aside.push({ node, fromUs, toUs });
    }
  }
  return aside;
}

type Stretch = Pick<LooseStretch, 'fromUs' | 'toUs'>;

/** Makes steps of some nodes, each after its parent; answers those that stand at the top. */
function grow(
  { path, holds, steps }: Growth,
  {
    nodes,
    within,
    sections,
  }: {
    readonly nodes: readonly TreeNode[];
    readonly within: Stretch;
    readonly sections: readonly PathSection[];
  },
): Step[] {
  const ends = pathEnds(nodes, sections, path.startUs);
  const outer = { fromUs: within.fromUs - path.startUs, toUs: within.toUs - path.startUs };
  const byNode = new Map<TreeNode, Step>();
  const [first] = nodes;
  const tops: Step[] = [];
  for (const node of nodes) {
    const isTop = !node.parent || node === first;
    const parent = node.parent && byNode.get(node.parent);
    if (!isTop && !parent) continue;
    const cut = cutOf(node, isTop ? outer : (parent ?? outer), {
      startUs: path.startUs,
      pathEndUs: ends.get(node),
      isTop,
    });
    if (!cut) continue;
    const { factor } = holds.get(node) ?? unheld;
    const step = stepOf({ span: node.span, ...cut, factor, children: [] });
    byNode.set(node, step);
    if (isTop) tops.push(step);
    else parent?.children.push(step);
    steps.push(step);
  }
  return tops;
}

/** What of a span its parent can have waited for; undefined is nothing. */
function cutOf(
  { span, parent }: TreeNode,
  outer: Pick<Step, 'fromUs' | 'toUs'>,
  {
    startUs,
    pathEndUs,
    isTop,
  }: { readonly startUs: number; readonly pathEndUs: number | undefined; readonly isTop: boolean },
): Pick<Step, 'fromUs' | 'toUs' | 'isOnPath'> | undefined {
  const fromUs = Math.max(span.startUs - startUs, outer.fromUs);
  const toUs = Math.min(pathEndUs ?? span.endUs - startUs, outer.toUs);
  const cut = { fromUs, toUs, isOnPath: pathEndUs !== undefined };
  // A root of no length may still be where a trace begins or ends.
  if (!parent) return toUs >= fromUs ? cut : undefined;
  return toUs > fromUs && (isTop || !isQueued(span, parent.span)) ? cut : undefined;
}

/** When the path left a span for what came after: there the path cuts siblings that overlap. */
function pathEnds(
  nodes: readonly TreeNode[],
  sections: readonly PathSection[],
  startUs: number,
): Map<TreeNode, number> {
  const ends = new Map<TreeNode, number>();
  for (const { node, toUs } of sections) {
    if (node) ends.set(node, Math.max(ends.get(node) ?? 0, toUs - startUs));
  }
  for (const node of nodes.toReversed()) {
    const endUs = ends.get(node);
    if (endUs === undefined || !node.parent) continue;
    ends.set(node.parent, Math.max(ends.get(node.parent) ?? 0, endUs));
  }
  return ends;
}

/** How much faster a span is, and which changes have taken hold of everything below it. */
interface Hold {
  readonly factor: number;
  readonly held: readonly number[];
}

const unheld: Hold = { factor: 1, held: [] };

function holdsOf(tree: SpanTree, changes: readonly Change[]) {
  const matches = changes.map(() => 0);
  const holds = new Map<TreeNode, Hold>();
  for (const node of tree.topDown) {
    const { held } = (node.parent && holds.get(node.parent)) ?? unheld;
    holds.set(node, holdOf(node, { changes, matches, held }));
  }
  return { holds, matches };
}

/** A change takes hold of a span once, however many spans above it it names too. */
function holdOf(
  { span }: TreeNode,
  {
    changes,
    matches,
    held,
  }: { changes: readonly Change[]; matches: number[]; held: readonly number[] },
): Hold {
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
