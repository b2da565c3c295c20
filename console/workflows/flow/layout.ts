import { edgesOf, type Flow } from './flow.ts';

/** Between the left edges of columns, and the tops of rows. */
const columnWidth = 290;
const rowHeight = 130;
const sweeps = 4;

/** Whether its nodes have no places of their own: some lie on top of each other. */
export function lacksPlaces({ nodes }: Flow): boolean {
  const places = nodes.map(({ position }) => (position ? `${position.x} ${position.y}` : ''));
  return places.includes('') || new Set(places).size < places.length;
}

/** The flow with its nodes in columns, each behind all that lead to it; edges that lead back are let be. */
export function layOut(flow: Flow): Flow {
  const graph = readGraph(flow);
  const columns = order(toColumns(graph), graph);
  const places = new Map(columns.flatMap((column, at) => column.map(placeIn(column.length, at))));
  const nodes = flow.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? origin }));
  return { ...flow, nodes };
}

const origin = { x: 0, y: 0 };

function placeIn(count: number, column: number) {
  return (id: string, row: number): [string, { x: number; y: number }] => [
    id,
    { x: column * columnWidth, y: Math.round((row - (count - 1) / 2) * rowHeight) },
  ];
}

interface Graph {
  readonly ids: readonly string[];
  readonly targets: ReadonlyMap<string, readonly string[]>;
  readonly sources: ReadonlyMap<string, readonly string[]>;
}

/** Without the edges that lead back to where they came from. */
function readGraph(flow: Flow): Graph {
  const ids = flow.nodes.map(({ id }) => id);
  const all = groupEdges(edgesOf(flow).map(({ source, target }) => [source, target]));
  const forward = ids.length === 0 ? [] : findForwardEdges(ids, all);
  return {
    ids,
    targets: groupEdges(forward),
    sources: groupEdges(forward.map(([source, target]) => [target, source])),
  };
}

type Pair = readonly [source: string, target: string];

function groupEdges(pairs: readonly Pair[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}

/** Walks depth first, entries before the rest; an edge to a node that is being walked leads back. */
function findForwardEdges(ids: readonly string[], targets: ReadonlyMap<string, string[]>): Pair[] {
  const known = new Set(ids);
  const entered = new Set([...targets.values()].flat());
  const states = new Map<string, 'open' | 'done'>();
  const forward: Pair[] = [];
  const starts = [...ids.filter((id) => !entered.has(id)), ...ids];
  for (const start of starts) {
    if (states.has(start)) continue;
    states.set(start, 'open');
    const stack = [{ id: start, next: 0 }];
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const target = targets.get(top.id)?.[top.next++];
      if (target === undefined) {
        states.set(top.id, 'done');
        stack.pop();
      } else if (known.has(target) && states.get(target) !== 'open') {
        forward.push([top.id, target]);
        if (states.has(target)) continue;
        states.set(target, 'open');
        stack.push({ id: target, next: 0 });
      }
    }
  }
  return forward;
}

/** Each node in the column behind the furthest of those that lead to it. */
function toColumns({ ids, targets, sources }: Graph): string[][] {
  const depths = new Map<string, number>();
  const open = new Map(ids.map((id) => [id, sources.get(id)?.length ?? 0]));
  const queue = ids.filter((id) => open.get(id) === 0);
  // The list grows while it is walked.
  for (const id of queue) {
    const depth = depths.get(id) ?? 0;
    depths.set(id, depth);
    for (const target of targets.get(id) ?? []) {
      depths.set(target, Math.max(depths.get(target) ?? 0, depth + 1));
      const left = (open.get(target) ?? 0) - 1;
      open.set(target, left);
      if (left === 0) queue.push(target);
    }
  }
  const columns: string[][] = [];
  for (const id of ids) (columns[depths.get(id) ?? 0] ??= []).push(id);
  return columns;
}

/** Puts each node near the middle of its neighbours, column by column, back and forth. */
function order(columns: string[][], { sources, targets }: Graph): string[][] {
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isForward = sweep % 2 === 0;
    const neighbours = isForward ? sources : targets;
    const rows = new Map(columns.flatMap((column) => column.map(rowIn(column.length))));
    for (const column of isForward ? columns : columns.toReversed()) {
      const weights = new Map(
        column.map((id) => [id, meanOf(neighbours.get(id) ?? [], rows) ?? rows.get(id) ?? 0]),
      );
      column.sort((one, other) => (weights.get(one) ?? 0) - (weights.get(other) ?? 0));
      for (const [at, id] of column.entries()) rows.set(...rowIn(column.length)(id, at));
    }
  }
  return columns;
}

function rowIn(count: number) {
  return (id: string, at: number): [string, number] => [id, at - (count - 1) / 2];
}

function meanOf(ids: readonly string[], rows: ReadonlyMap<string, number>): number | undefined {
  if (ids.length === 0) return undefined;
  return ids.reduce((sum, id) => sum + (rows.get(id) ?? 0), 0) / ids.length;
}
