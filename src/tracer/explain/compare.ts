import type { CriticalPath } from '../trace/critical-path.ts';
import { selfTimeOf } from '../trace/self-time.ts';
import type { SpanTree, TreeNode } from '../trace/tree.ts';
import { pathTimes } from './path-times.ts';

/** What all spans of one place did together; times are microseconds. */
export interface PlaceSums {
  readonly count: number;
  readonly errors: number;
  readonly durationUs: number;
  readonly selfUs: number;
  /** Of the critical path, their own work. */
  readonly onPathUs: number;
}

/** Spans that have the same services and names from the root down are one place. */
export interface Place extends PlaceSums {
  /** The place above, by position; -1 at the top. Places stand after those above them. */
  readonly above: number;
  readonly service: string;
  readonly name: string;
}

/** A trace by its places, as plain values: small where a trace repeats itself. */
export interface Structure {
  readonly traceId: string;
  readonly totalUs: number;
  /** Of the critical path, while no span ran. Together with all places' `onPathUs`: `totalUs`. */
  readonly idleUs: number;
  readonly places: readonly Place[];
}

/** Merges the spans of a trace by place. */
export function structureOf(tree: SpanTree, path: CriticalPath): Structure {
  const onPath = pathTimes(path.sections);
  const places = new Places<PlaceDraft>();
  const placeOf = new Map<TreeNode, number>();
  for (const node of tree.topDown) {
    const above = node.parent ? (placeOf.get(node.parent) ?? -1) : -1;
    const { service, name } = node.span;
    const at = places.find({ above, service, name }, emptyPlace);
    placeOf.set(node, at);
    const place = places.all[at];
    if (place) addSpan(place, node, onPath.get(node.span.spanId) ?? 0);
  }
  const totalUs = path.endUs - path.startUs;
  const idleUs = path.sections.reduce(
    (sum, { node, fromUs, toUs }) => (node ? sum : sum + toUs - fromUs),
    0,
  );
  const traceId = tree.nodes[0]?.span.traceId ?? '';
  return { traceId, totalUs, idleUs, places: places.all };
}

/** A place in two traces; undefined in one that lacks it. */
export interface PlaceChange {
  readonly above: number;
  readonly service: string;
  readonly name: string;
  readonly base: PlaceSums | undefined;
  readonly other: PlaceSums | undefined;
}

/** What one operation adds to how much longer one trace took than another. */
export interface Contribution {
  readonly service: string;
  readonly name: string;
  /** By how much more of the critical path is its own work; negative where less is. */
  readonly us: number;
  readonly baseCount: number;
  readonly otherCount: number;
}

export interface Comparison {
  readonly differenceUs: number;
  /** Every place of either trace, each after the one above it. */
  readonly places: readonly PlaceChange[];
  /** Operations whose time on the path changed, the most first. Together with `idleUs`: all of it. */
  readonly contributions: readonly Contribution[];
  /** By how much longer no span ran. */
  readonly idleUs: number;
}

/**
 * Sets two traces beside each other by place. A trace lasts as long as its critical path, and every
 * moment of that belongs to one span, so the operations' changes explain the difference to the
 * microsecond.
 */
export function compareStructures(base: Structure, other: Structure): Comparison {
  const places = new Places<Writable<PlaceChange>>();
  for (const side of ['base', 'other'] as const) {
    const at: number[] = [];
    for (const { above, service, name, ...sums } of (side === 'base' ? base : other).places) {
      const merged = above < 0 ? -1 : (at[above] ?? -1);
      const found = places.find({ above: merged, service, name }, emptyChange);
      at.push(found);
      const place = places.all[found];
      if (place) place[side] = sums;
    }
  }
  return {
    differenceUs: other.totalUs - base.totalUs,
    places: places.all,
    contributions: contributionsOf(places.all),
    idleUs: other.idleUs - base.idleUs,
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

type PlaceDraft = Writable<Place>;

interface PlaceName {
  readonly above: number;
  readonly service: string;
  readonly name: string;
}

/** Finds the position of a place by its name and the place above it; a new one is made. */
class Places<P extends PlaceName> {
  readonly all: P[] = [];
  readonly #positions = new Map<string, number>();

  find(place: PlaceName, make: (place: PlaceName) => P): number {
    const key = `${place.above}\0${place.service}\0${place.name}`;
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    this.#positions.set(key, this.all.length);
    return this.all.push(make(place)) - 1;
  }
}

function emptyPlace(place: PlaceName): PlaceDraft {
  return { ...place, count: 0, errors: 0, durationUs: 0, selfUs: 0, onPathUs: 0 };
}

function emptyChange(place: PlaceName): Writable<PlaceChange> {
  return { ...place, base: undefined, other: undefined };
}

function addSpan(place: PlaceDraft, node: TreeNode, onPathUs: number): void {
  const { span } = node;
  place.count += 1;
  place.errors += span.isError ? 1 : 0;
  place.durationUs += span.endUs - span.startUs;
  place.selfUs += selfTimeOf(node);
  place.onPathUs += onPathUs;
}

function contributionsOf(places: readonly PlaceChange[]): Contribution[] {
  const byOperation = new Map<string, Writable<Contribution>>();
  for (const { service, name, base, other } of places) {
    const key = `${service}\0${name}`;
    const sum = byOperation.get(key) ?? { service, name, us: 0, baseCount: 0, otherCount: 0 };
    byOperation.set(key, sum);
    sum.us += (other?.onPathUs ?? 0) - (base?.onPathUs ?? 0);
    sum.baseCount += base?.count ?? 0;
    sum.otherCount += other?.count ?? 0;
  }
  return [...byOperation.values()]
    .filter(({ us }) => us !== 0)
    .toSorted(
      (a, b) =>
        Math.abs(b.us) - Math.abs(a.us) ||
        (`${a.service}\0${a.name}` < `${b.service}\0${b.name}` ? -1 : 1),
    );
}
