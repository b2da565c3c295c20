/** A call from one node to another. */
export interface Call {
  readonly from: string;
  readonly to: string;
}

export interface Place {
  readonly id: string;
  /** The first layer calls and is not called. */
  readonly layer: number;
  /** Its place in its layer, from the top. */
  readonly rank: number;
}

const sweeps = 4;

/**
 * Places nodes in layers so that calls go from left to right, but for those that close a circle; within a
 * layer each node is near those that it calls and is called by.
 */
export function placeInLayers(ids: readonly string[], calls: readonly Call[]): Place[] {
  const known = new Set(ids);
  const real = calls.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const forward = withoutCircles(ids, real);
  const layers = layersOf(ids, forward);
  const columns: string[][] = [];
  for (const id of ids) {
    const layer = layers.get(id) ?? 0;
    while (columns.length <= layer) columns.push([]);
    columns[layer]?.push(id);
  }
  return order(columns, real).flatMap((column, layer) =>
    column.map((id, rank) => ({ id, layer, rank })),
  );
}

/** Leaves out the calls that lead back to a node on the way to them. */
function withoutCircles(ids: readonly string[], calls: readonly Call[]): Call[] {
  const outgoing = groupBy(calls, ({ from }) => from);
  const called = new Set(calls.map(({ to }) => to));
  const state = new Map<string, 'open' | 'done'>();
  const kept: Call[] = [];
  const visit = (id: string) => {
    state.set(id, 'open');
    for (const call of outgoing.get(id) ?? []) {
      const known = state.get(call.to);
      if (known === 'open') continue;
      kept.push(call);
      if (known === undefined) visit(call.to);
    }
    state.set(id, 'done');
  };
  // Those that nobody calls come first: from them the circles are entered where they begin.
  const starts = [...ids.filter((id) => !called.has(id)), ...ids];
  for (const id of starts) if (!state.has(id)) visit(id);
  return kept;
}

/** Each node one layer behind the last of those that call it. */
function layersOf(ids: readonly string[], calls: readonly Call[]): ReadonlyMap<string, number> {
  const incoming = groupBy(calls, ({ to }) => to);
  const layers = new Map<string, number>();
  const layerOf = (id: string): number => {
    const known = layers.get(id);
    if (known !== undefined) return known;
    const layer = Math.max(-1, ...(incoming.get(id) ?? []).map(({ from }) => layerOf(from))) + 1;
    layers.set(id, layer);
    return layer;
  };
  for (const id of ids) layerOf(id);
  return layers;
}

/** Moves nodes to the middle of their neighbours, which leaves fewer crossings. */
function order(columns: readonly (readonly string[])[], calls: readonly Call[]): string[][] {
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of calls) {
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const ordered = columns.map((column) => [...column]);
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    for (const [at, column] of ordered.entries()) {
      const places = new Map(
        ordered.flatMap((one) =>
          one.map((id, rank): [string, number] => [id, (rank + 0.5) / one.length]),
        ),
      );
      const middle = (id: string) => {
        const near = neighbours.get(id) ?? [];
        const sum = near.reduce((all, one) => all + (places.get(one) ?? 0), 0);
        return near.length === 0 ? (places.get(id) ?? 0) : sum / near.length;
      };
      ordered[at] = column.toSorted((one, other) => middle(one) - middle(other));
    }
  }
  return ordered;
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}
