import type { StoredTrace } from '../reading/view.ts';
import type { TraceComparison } from '../schemas/explain-answers.ts';
import { toMs } from '../trace/shares.ts';
import { study, type Study } from '../trace/study.ts';
import {
  compareStructures,
  structureOf,
  type Comparison,
  type PlaceChange,
  type PlaceSums,
} from './compare.ts';
import { percentOf, wholeMilliseconds } from './rounding.ts';

const placesMax = 200;
const contributionsMax = 50;

/** Two traces beside each other, and what makes the other one longer or shorter than the base. */
export function compareView(base: StoredTrace, other: StoredTrace) {
  const before = study(base.spans);
  const after = study(other.spans);
  const comparison = compareStructures(
    structureOf(before.tree, before.path),
    structureOf(after.tree, after.path),
  );
  const places = rankedPlaces(comparison);
  return {
    base: headOf(base, before),
    other: headOf(other, after),
    difference: toMs(comparison.differenceUs),
    explanation: explanationOf(comparison),
    spans: places.slice(0, placesMax).map(({ at }) => placeEntry(comparison.places, at)),
    totalSpans: places.length,
  } satisfies TraceComparison;
}

function headOf({ traceId }: StoredTrace, { summary, path, tree }: Study) {
  return {
    traceId,
    name: summary.name,
    startTime: new Date(summary.startUs / 1_000).toISOString(),
    duration: toMs(path.endUs - path.startUs),
    status: summary.status,
    spans: tree.nodes.length,
  };
}

/** Whole milliseconds that add up to the whole difference, whatever is cut off as `rest`. */
function explanationOf({ contributions, idleUs, differenceUs }: Comparison) {
  const shown = contributions.slice(0, contributionsMax);
  const rest = contributions.slice(contributionsMax);
  const restUs = rest.reduce((sum, { us }) => sum + us, 0);
  const ms = wholeMilliseconds([...shown.map(({ us }) => us), restUs, idleUs]);
  return {
    operations: shown.map(({ service, name, us, baseCount, otherCount }, at) => ({
      service,
      name,
      baseCount,
      otherCount,
      change: ms[at] ?? 0,
      percentOfDifference: percentOf(us, differenceUs),
    })),
    rest: ms[shown.length] ?? 0,
    uninstrumented: ms[shown.length + 1] ?? 0,
  };
}

/** What changed the path most comes first, then what changed its own duration most. */
function rankedPlaces({ places }: Comparison) {
  return places
    .map((place, at) => ({
      at,
      path: Math.abs(changeOf(place, 'onPathUs')),
      duration: Math.abs(changeOf(place, 'durationUs')),
    }))
    .toSorted((a, b) => b.path - a.path || b.duration - a.duration || a.at - b.at);
}

function changeOf({ base, other }: PlaceChange, field: keyof PlaceSums): number {
  return (other?.[field] ?? 0) - (base?.[field] ?? 0);
}

function placeEntry(places: readonly PlaceChange[], at: number) {
  const place = places[at];
  return {
    service: place?.service ?? '',
    name: place?.name ?? '',
    ...waysTo(places, at),
    change: place ? kindOf(place) : ('same' as const),
    ...(place?.base ? { base: sumsEntry(place.base) } : {}),
    ...(place?.other ? { other: sumsEntry(place.other) } : {}),
    durationChange: place ? toMs(changeOf(place, 'durationUs')) : 0,
    criticalPathChange: place ? toMs(changeOf(place, 'onPathUs')) : 0,
  };
}

const namesMax = 10;

/** The names above a place, the nearest ten of them, the outermost first. */
function waysTo(places: readonly PlaceChange[], at: number) {
  const path: string[] = [];
  let above = places[at]?.above ?? -1;
  while (above >= 0 && path.length < namesMax) {
    path.push(places[above]?.name ?? '');
    above = places[above]?.above ?? -1;
  }
  return { path: path.toReversed(), isPathCut: above >= 0 };
}

/** A tenth of its duration, and a millisecond, is a change. */
function kindOf({ base, other }: PlaceChange): 'added' | 'removed' | 'changed' | 'same' {
  if (!base) return 'added';
  if (!other) return 'removed';
  const changeUs = Math.abs(other.durationUs - base.durationUs);
  const hasOtherTime = changeUs >= 1_000 && changeUs * 10 >= base.durationUs;
  const isOther = base.count !== other.count || base.errors !== other.errors;
  return isOther || hasOtherTime ? 'changed' : 'same';
}

function sumsEntry({ count, errors, durationUs, selfUs, onPathUs }: PlaceSums) {
  return {
    count,
    errors,
    duration: toMs(durationUs),
    selfTime: toMs(selfUs),
    onCriticalPath: toMs(onPathUs),
  };
}
