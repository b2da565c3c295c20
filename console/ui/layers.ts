/** From one node of a graph to another. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
}

/** Where a node stands in a drawing of layers. */
export interface Place {
  readonly id: string;
  /** Nothing leads to those of layer 0. */
  readonly layer: number;
  /** Its place in its layer, from the top. */
  readonly rank: number;
  /** How many its layer has. */
  readonly layerSize: number;
}

type Neighbours = ReadonlyMap<string, readonly string[]>;

interface Graph {
  readonly ids: readonly string[];
  readonly targets: Neighbours;
  readonly sources: Neighbours;
}

const sweeps = 4;

/**
 * Places nodes in layers, each behind all that lead to it, and within its layer near its neighbours (Sugiyama,
 * Tagawa and Toda 1981). Arrows that close a circle, lead to their own node or to nowhere are let be.
 */
export function placeInLayers(ids: readonly string[], arrows: readonly Arrow[]): Place[] {
  const forward = withoutCircles(ids, arrows);
  const graph = {
    ids,
    targets: group(forward, ({ from, to }) => [from, to]),
    sources: group(forward, ({ from, to }) => [to, from]),
  };
  return order(toLayers(graph), graph).flatMap((layer, at) =>
    layer.map((id, rank) => ({ id, layer: at, rank, layerSize: layer.length })),
  );
}

/** Walks depth first, entries before the rest; an arrow to a node that is being walked closes a circle. */
function withoutCircles(ids: readonly string[], arrows: readonly Arrow[]): Arrow[] {
  const targets = group(arrows, ({ from, to }) => [from, to]);
  const entered = new Set(arrows.map(({ to }) => to));
  const states = new Map<string, 'new' | 'open' | 'done'>(ids.map((id) => [id, 'new']));
  const forward: Arrow[] = [];
  // Circles are entered where they begin.
  for (const start of [...ids.filter((id) => !entered.has(id)), ...ids]) {
    if (states.get(start) !== 'new') continue;
    states.set(start, 'open');
    const walked = [{ id: start, next: 0 }];
    for (let last = walked.at(-1); last; last = walked.at(-1)) {
      const to = targets.get(last.id)?.[last.next++];
      if (to === undefined) {
        states.set(last.id, 'done');
        walked.pop();
        continue;
      }
      const state = states.get(to);
      if (state === undefined || state === 'open') continue;
      forward.push({ from: last.id, to });
      if (state === 'done') continue;
      states.set(to, 'open');
      walked.push({ id: to, next: 0 });
    }
  }
  return forward;
}

/** Each node in the layer behind the furthest of those that lead to it. */
function toLayers({ ids, targets, sources }: Graph): string[][] {
  const layerOf = new Map<string, number>();
  const awaited = new Map(ids.map((id) => [id, sources.get(id)?.length ?? 0]));
  const ready = ids.filter((id) => awaited.get(id) === 0);
  // The list grows while it is walked.
  for (const id of ready) {
    const layer = layerOf.get(id) ?? 0;
    for (const target of targets.get(id) ?? []) {
      layerOf.set(target, Math.max(layerOf.get(target) ?? 0, layer + 1));
      const left = (awaited.get(target) ?? 0) - 1;
      awaited.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  const layers: string[][] = [];
  for (const id of ids) (layers[layerOf.get(id) ?? 0] ??= []).push(id);
  return layers;
}

/** Moves each node to the middle of its neighbours, layer by layer, forth and back: fewer arrows cross. */
function order(layers: readonly string[][], { sources, targets }: Graph): readonly string[][] {
  const rows = new Map<string, number>();
  const note = (layer: readonly string[]) => {
    for (const [at, id] of layer.entries()) rows.set(id, at - (layer.length - 1) / 2);
  };
  for (const layer of layers) note(layer);
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isForth = sweep % 2 === 0;
    const neighbours = isForth ? sources : targets;
    for (const layer of isForth ? layers : layers.toReversed()) {
      const middles = new Map(
        layer.map((id) => [id, middleOf(neighbours.get(id) ?? [id], rows)] as const),
      );
      layer.sort((one, other) => (middles.get(one) ?? 0) - (middles.get(other) ?? 0));
      note(layer);
    }
  }
  return layers;
}

function middleOf(ids: readonly string[], rows: ReadonlyMap<string, number>): number {
  return ids.reduce((sum, id) => sum + (rows.get(id) ?? 0), 0) / ids.length;
}

function group(
  arrows: readonly Arrow[],
  read: (arrow: Arrow) => readonly [key: string, value: string],
): Neighbours {
  const groups = new Map<string, string[]>();
  for (const arrow of arrows) {
    const [key, value] = read(arrow);
    const known = groups.get(key);
    if (known) known.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
