import type { SpanHead } from './span.ts';

/**
 * Why a span stands at the top: it names no parent (`root`), a parent that never came (`orphan`; a
 * caller that is not traced here looks the same), or it was cut out of a circle of parents (`cycle`).
 */
export type RootKind = 'root' | 'orphan' | 'cycle';

export interface TreeNode<S extends SpanHead = SpanHead> {
  readonly span: S;
  /** Its place in `SpanTree.nodes`. */
  readonly index: number;
  readonly parent: TreeNode<S> | undefined;
  /** By start. */
  readonly children: readonly TreeNode<S>[];
  /** 0 at the top. */
  readonly depth: number;
  /** Undefined below the top. */
  readonly rootKind: RootKind | undefined;
}

/** Every span of a trace once, whatever order they came in. */
export interface SpanTree<S extends SpanHead = SpanHead> {
  /** By start; of equal starts the longer first, then by id. */
  readonly nodes: readonly TreeNode<S>[];
  /** By start. */
  readonly roots: readonly TreeNode<S>[];
  /** All nodes, each after its parent. */
  readonly topDown: readonly TreeNode<S>[];
  readonly byId: ReadonlyMap<string, TreeNode<S>>;
}

/**
 * Puts the spans of one trace in a tree. No span is dropped: of those with the same id the one that
 * ends last stands for all, one whose parent is not there stands at the top, and a circle of parents
 * is cut at its earliest span. The answer does not depend on the order of the input.
 */
export function buildTree<S extends SpanHead>(spans: readonly S[]): SpanTree<S> {
  const byId = new Map<string, Draft<S>>();
  for (const span of spans) {
    const same = byId.get(span.spanId);
    if (same === undefined) byId.set(span.spanId, draftOf(span));
    else same.span = fuller(same.span, span);
  }
  const nodes = [...byId.values()].toSorted(earlierNode);
  const roots: Draft<S>[] = [];
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index];
    if (node === undefined) continue;
    node.index = index;
    if (!link(node, byId)) roots.push(node);
  }
  const topDown = [...roots];
  descend(topDown, 0);
  if (topDown.length < nodes.length) {
    cutCycles(nodes, { roots, topDown });
    roots.sort((one, other) => one.index - other.index);
  }
  return { nodes, roots, topDown, byId };
}

interface Draft<S extends SpanHead> extends TreeNode<S> {
  span: S;
  index: number;
  parent: Draft<S> | undefined;
  children: Draft<S>[];
  depth: number;
  rootKind: RootKind | undefined;
}

const unreached = -1;
/** Shared by all leaves, so that a leaf costs no array; it stays empty. */
const childless: never[] = [];

function draftOf<S extends SpanHead>(span: S): Draft<S> {
  return {
    span,
    index: 0,
    parent: undefined,
    children: childless,
    depth: unreached,
    rootKind: undefined,
  };
}

function earlierNode(one: TreeNode, other: TreeNode): number {
  const [a, b] = [one.span, other.span];
  return a.startUs - b.startUs || b.endUs - a.endUs || (a.spanId < b.spanId ? -1 : 1);
}

/** Of two reports of one span the later ended; the order of the two never decides. */
function fuller<S extends SpanHead>(one: S, other: S): S {
  if (one.endUs !== other.endUs) return one.endUs > other.endUs ? one : other;
  if (one.startUs !== other.startUs) return one.startUs < other.startUs ? one : other;
  if (one.isError !== other.isError) return one.isError ? one : other;
  return JSON.stringify(one) <= JSON.stringify(other) ? one : other;
}

/** Hangs a node below its parent; false when it stands at the top. */
function link<S extends SpanHead>(node: Draft<S>, byId: ReadonlyMap<string, Draft<S>>): boolean {
  const { parentSpanId, spanId } = node.span;
  const isFirst = parentSpanId === undefined || parentSpanId === spanId;
  const parent = isFirst ? undefined : byId.get(parentSpanId);
  if (parent === undefined) {
    node.rootKind = isFirst ? 'root' : 'orphan';
    node.depth = 0;
    return false;
  }
  node.parent = parent;
  if (parent.children === childless) parent.children = [node];
  else parent.children.push(node);
  return true;
}

/** Appends everything below the nodes from a position on. */
function descend<S extends SpanHead>(topDown: Draft<S>[], from: number): void {
  for (let at = from; at < topDown.length; at += 1) {
    const node = topDown[at];
    if (node === undefined) continue;
    for (const child of node.children) {
      child.depth = node.depth + 1;
      topDown.push(child);
    }
  }
}

function cutCycles<S extends SpanHead>(
  nodes: readonly Draft<S>[],
  reached: { readonly roots: Draft<S>[]; readonly topDown: Draft<S>[] },
): void {
  for (const node of nodes) {
    if (node.depth !== unreached) continue;
    const first = earliestOfCycle(node);
    const { parent } = first;
    if (parent !== undefined) parent.children = parent.children.filter((child) => child !== first);
    first.parent = undefined;
    first.rootKind = 'cycle';
    first.depth = 0;
    reached.roots.push(first);
    reached.topDown.push(first);
    descend(reached.topDown, reached.topDown.length - 1);
  }
}

/** Of the circle that the parents of a node lead into. */
function earliestOfCycle<S extends SpanHead>(node: Draft<S>): Draft<S> {
  const seen = new Set<Draft<S>>();
  let at = node;
  while (!seen.has(at)) {
    seen.add(at);
    at = at.parent ?? at;
  }
  let first = at;
  for (let next = at.parent; next !== undefined && next !== at; next = next.parent)
    if (next.index < first.index) first = next;
  return first;
}
