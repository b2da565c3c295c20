import { isQueued } from '../trace/calls.ts';
import { siblingTolerance, type CriticalPath, type PathSection } from '../trace/critical-path.ts';
import type { SpanHead } from '../trace/span.ts';
import type { SpanTree, TreeNode } from '../trace/tree.ts';

/** A span in a replay; times are microseconds after the start of the path. */
export interface Step {
  readonly node: TreeNode | undefined;
  readonly parent: Step | undefined;
  readonly fromUs: number;
  readonly toUs: number;
  /** From when on others may have waited for it. */
  readonly endsUs: number;
  /** What a queue delivered: nobody waits for it. */
  readonly isQueued: boolean;
  readonly factor: number;
  /** What the time between its parent's end and its start is divided by. */
  readonly gapFactor: number;
  readonly children: Step[];
  /** The projection, in microseconds. It begins so long after its parent, and takes so long. */
  beginsUs: number;
  lastsUs: number;
}

/** The steps of a trace, the one above its roots first, each after its parent. */
export function stepsOf(tree: SpanTree, path: CriticalPath, changes: readonly Change[]) {
  const { holds, matches } = holdsOf(tree, changes);
  const top = topStep(path);
  const steps = [top];
  const byNode = new Map<TreeNode, Step>();
  const endsOf = pathEndsOf(tree, path);
  const outlasting = new Map<Step, Step | undefined>();
  for (const node of tree.topDown) {
    const parent = (node.parent && byNode.get(node.parent)) ?? top;
    const { factor } = holds.get(node) ?? unheld;
    const times = timesOf(node, parent, { startUs: path.startUs, pathEndUs: endsOf(node) });
    const above = firstUntil(times.fromUs, parent, outlasting);
    const gapFactor = above?.factor ?? 1;
    const step: Step = { node, parent, ...times, factor, gapFactor, children: [], ...unplayed };
    outlasting.set(step, firstUntil(step.toUs, parent, outlasting));
    byNode.set(node, step);
    parent.children.push(step);
    steps.push(step);
  }
  return { steps, matches };
}

const unplayed = { beginsUs: 0, lastsUs: 0 };

function topStep(path: CriticalPath): Step {
  const toUs = path.endUs - path.startUs;
  return {
    node: undefined,
    parent: undefined,
    fromUs: 0,
    toUs,
    endsUs: toUs,
    isQueued: false,
    factor: 1,
    gapFactor: 1,
    children: [],
    ...unplayed,
  };
}

/** A step that takes no time. */
export function isPoint({ fromUs, toUs }: Step): boolean {
  return fromUs === toUs;
}

/** The nearest from here up that lasts until some time, past those known to be outlasted. */
function firstUntil(
  untilUs: number,
  from: Step,
  outlasting: ReadonlyMap<Step, Step | undefined>,
): Step | undefined {
  let step: Step | undefined = from;
  while (step && step.toUs < untilUs) step = outlasting.get(step);
  return step;
}

type Times = Pick<Step, 'fromUs' | 'toUs' | 'endsUs' | 'isQueued'>;

/** Where its parent waited for a span, it ended for others when the parent or the path went on. */
function timesOf(
  { span, parent }: TreeNode,
  above: Step,
  { startUs, pathEndUs }: { readonly startUs: number; readonly pathEndUs: number | undefined },
): Times {
  const fromUs = span.startUs - startUs;
  const toUs = span.endUs - startUs;
  const toleranceUs = parent ? (above.toUs - above.fromUs) * siblingTolerance : Infinity;
  const isWithin = toUs <= above.toUs || (fromUs < above.toUs && toUs <= above.toUs + toleranceUs);
  const isCut = pathEndUs !== undefined && pathEndUs > fromUs && toUs - pathEndUs <= toleranceUs;
  const cutUs = isCut ? Math.min(pathEndUs, toUs) : toUs;
  return {
    fromUs,
    toUs,
    endsUs: isWithin && parent ? Math.min(cutUs, above.toUs) : cutUs,
    isQueued: parent !== undefined && isQueued(span, parent.span),
  };
}

/** When the path left each span, while roots ran where it was there; a root for another root only. */
function pathEndsOf(tree: SpanTree, { sections, startUs }: CriticalPath) {
  const ofRoots = pathEnds(
    tree,
    sections.filter(({ loose }) => !loose),
    startUs,
  );
  const all = pathEnds(tree, sections, startUs);
  return (node: TreeNode) => ofRoots.get(node) ?? (node.parent && all.get(node));
}

/** When the path left a span for what came after: there the path cuts siblings that overlap. */
function pathEnds(
  { topDown }: SpanTree,
  sections: readonly PathSection[],
  startUs: number,
): Map<TreeNode, number> {
  const ends = new Map<TreeNode, number>();
  for (const { node, toUs } of sections) {
    if (node) ends.set(node, Math.max(ends.get(node) ?? 0, toUs - startUs));
  }
  for (const node of topDown.toReversed()) {
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
