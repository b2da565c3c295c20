/** What of a span its place in the tree depends on. */
export interface Placed {
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** A span at its place: each stands before those below it. */
export interface SpanRow<S extends Placed = Placed> {
  /** The span's id; told apart by a number where one came twice. */
  readonly key: string;
  readonly span: S;
  readonly depth: number;
  /** How many spans are below it. */
  readonly below: number;
  readonly parentKey: string | undefined;
  /** It names a parent that is not there. */
  readonly isOrphan: boolean;
}

/**
 * Orders spans as a tree, children in the order they come in. No span is lost: those without their parent and
 * those that are above themselves stand at the top.
 */
export function layOutRows<S extends Placed>(spans: readonly S[]): SpanRow<S>[] {
  const nodes = nodesOf(spans);
  const first = new Map<string, Node<S>>();
  for (const node of nodes) if (!first.has(node.span.spanId)) first.set(node.span.spanId, node);
  const children = new Map<Node<S>, Node<S>[]>();
  const roots: Node<S>[] = [];
  for (const node of nodes) {
    const { parentSpanId } = node.span;
    const parent = parentSpanId === undefined ? undefined : first.get(parentSpanId);
    node.isOrphan = parentSpanId !== undefined && parent === undefined;
    if (parent === undefined || parent === node) roots.push(node);
    else addTo(children, parent, node);
  }
  const walk = new Walk(children);
  for (const root of roots) walk.from(root);
  // What no root leads to is a circle; it is entered at the span that comes first.
  for (const node of nodes) walk.from(node);
  return walk.rows;
}

/** The rows that are seen while those below the collapsed ones are not. */
export function visibleRows<S extends Placed>(
  rows: readonly SpanRow<S>[],
  collapsed: ReadonlySet<string>,
): readonly SpanRow<S>[] {
  if (collapsed.size === 0) return rows;
  const visible: SpanRow<S>[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    visible.push(row);
    if (collapsed.has(row.key)) at += row.below;
  }
  return visible;
}

/** The keys of all rows above one, the nearest first. */
export function keysAbove(rows: readonly SpanRow[], key: string): string[] {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const above: string[] = [];
  let parent = byKey.get(key)?.parentKey;
  while (parent !== undefined) {
    above.push(parent);
    parent = byKey.get(parent)?.parentKey;
  }
  return above;
}

interface Node<S> {
  readonly key: string;
  readonly span: S;
  isOrphan: boolean;
}

function nodesOf<S extends Placed>(spans: readonly S[]): Node<S>[] {
  const seen = new Map<string, number>();
  return spans.map((span) => {
    const times = (seen.get(span.spanId) ?? 0) + 1;
    seen.set(span.spanId, times);
    return { key: times === 1 ? span.spanId : `${span.spanId}#${times}`, span, isOrphan: false };
  });
}

function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

interface Step<S> {
  readonly node: Node<S>;
  readonly depth: number;
  readonly parentKey: string | undefined;
}

/** Goes down without recursion: a trace may be deeper than the stack. */
class Walk<S extends Placed> {
  readonly rows: (SpanRow<S> & { below: number })[] = [];
  readonly #children: ReadonlyMap<Node<S>, readonly Node<S>[]>;
  readonly #visited = new Set<Node<S>>();

  constructor(children: ReadonlyMap<Node<S>, readonly Node<S>[]>) {
    this.#children = children;
  }

  from(root: Node<S>): void {
    const start = this.rows.length;
    const steps: Step<S>[] = [{ node: root, depth: 0, parentKey: undefined }];
    for (let step = steps.pop(); step; step = steps.pop()) {
      const { node, depth } = step;
      if (this.#visited.has(node)) continue;
      this.#visited.add(node);
      const { key, span, isOrphan } = node;
      this.rows.push({ key, span, depth, below: 0, parentKey: step.parentKey, isOrphan });
      const below = this.#children.get(node) ?? [];
      for (const child of below.toReversed()) {
        steps.push({ node: child, depth: depth + 1, parentKey: key });
      }
    }
    this.#count(start);
  }

  /** The rows below one are those behind it that are deeper. */
  #count(start: number): void {
    const above: { row: { below: number; depth: number }; at: number }[] = [];
    const close = (depth: number, end: number) => {
      for (let last = above.at(-1); last && last.row.depth >= depth; last = above.at(-1)) {
        last.row.below = end - last.at - 1;
        above.pop();
      }
    };
    for (let at = start; at < this.rows.length; at += 1) {
      const row = this.rows[at];
      if (row === undefined) break;
      close(row.depth, at);
      above.push({ row, at });
    }
    close(0, this.rows.length);
  }
}
