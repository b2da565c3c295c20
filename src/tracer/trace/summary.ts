import type { TraceError, TraceStatus, TraceSummary } from './analysis.ts';
import type { SpanHead } from './span.ts';
import type { SpanTree, TreeNode } from './tree.ts';

/** Says what a listing says of a trace. Throws on a trace without spans. */
export function summaryOf(tree: SpanTree): TraceSummary {
  const { span: root, rootKind } = mainRootOf(tree);
  const failure = deepestFailure(tree);
  return {
    name: root.name,
    service: root.service,
    agent: root.agent,
    rootSpanId: root.spanId,
    ...intervalOf(tree),
    status: failure === undefined ? 'success' : statusOfTrace(failure, root),
    spanCount: tree.nodes.length,
    errorCount: failure === undefined ? 0 : countErrors(tree),
    agents: namesOf(tree, { first: root.agent, nameOf: (span) => span.agent }),
    services: namesOf(tree, { first: root.service, nameOf: (span) => span.service }),
    isPartial: rootKind !== 'root',
    error: failure && errorOf(failure),
  };
}

/** The root that speaks for a trace: the longest of those without a parent, else the earliest span. */
export function mainRootOf<S extends SpanHead>(tree: SpanTree<S>): TreeNode<S> {
  const [earliest] = tree.roots;
  if (earliest === undefined) throw new RangeError('A trace has at least one span.');
  let longest: TreeNode<S> | undefined;
  for (const root of tree.roots) {
    if (root.rootKind !== 'root') continue;
    if (longest === undefined || durationOf(root) > durationOf(longest)) longest = root;
  }
  return longest ?? earliest;
}

/** The status that a single span stands for. */
export function statusOfSpan(span: SpanHead): TraceStatus {
  if (!span.isError) return 'success';
  return saysTimeout(span.errorCode ?? '') ? 'timeout' : 'error';
}

/** The root's, or that of all spans together where there is not one root or something outlasts it. */
export function intervalOf(tree: SpanTree): Interval {
  const [earliest] = tree.nodes;
  const startUs = earliest?.span.startUs ?? 0;
  let endUs = startUs;
  for (const { span } of tree.nodes) if (span.endUs > endUs) endUs = span.endUs;
  const [root] = tree.roots;
  const isWhole = tree.roots.length === 1 && root?.span.endUs === endUs;
  return { startUs: isWhole ? root.span.startUs : startUs, endUs };
}

const longestMessage = 1000;
/** `DeadlineExceeded`, `ETIMEDOUT`, `MODEL_TIMEOUT`, `timed out`, `504`; not `RuntimeOutOfMemory`. */
const timeoutWords =
  /deadline|(?<!run)time[ds]?[\s_-]?out|\betime\b|(?<![\d.])(?:408|504|524)(?![\d.])/i;

function saysTimeout(text: string): boolean {
  return timeoutWords.test(text);
}

function durationOf(node: TreeNode): number {
  return node.span.endUs - node.span.startUs;
}

/** Of failing spans equally deep the earliest. */
function deepestFailure(tree: SpanTree): SpanHead | undefined {
  let deepest: TreeNode | undefined;
  for (const node of tree.nodes)
    if (node.span.isError && (deepest === undefined || node.depth > deepest.depth)) deepest = node;
  return deepest?.span;
}

function countErrors(tree: SpanTree): number {
  let count = 0;
  for (const { span } of tree.nodes) if (span.isError) count += 1;
  return count;
}

function errorOf(span: SpanHead): TraceError {
  return {
    code: span.errorCode ?? 'ERROR',
    message: beginningOf(span.statusMessage ?? `${span.name} failed`),
    spanId: span.spanId,
    agent: span.agent,
  };
}

/** Never half of a surrogate pair, which no database takes. */
function beginningOf(text: string): string {
  return text.slice(0, longestMessage).replace(/[\uD800-\uDBFF]$/, '');
}

/** A caller that gave up waiting is a timeout too, whatever its callee said when it was cut off. */
function statusOfTrace(failure: SpanHead, root: SpanHead): TraceStatus {
  return statusOfSpan(root) === 'timeout' ? 'timeout' : statusOfSpan(failure);
}

function namesOf(
  tree: SpanTree,
  options: { readonly first: string; readonly nameOf: (span: SpanHead) => string },
): string[] {
  const names = [options.first];
  let seen: Set<string> | undefined;
  let last = options.first;
  for (const { span } of tree.nodes) {
    const name = options.nameOf(span);
    if (name === last) continue;
    last = name;
    seen ??= new Set(names);
    if (seen.has(name)) continue;
    seen.add(name);
    names.push(name);
  }
  return names;
}

export interface Interval {
  readonly startUs: number;
  readonly endUs: number;
}
