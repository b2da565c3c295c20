import type { TraceAnalysis } from '../trace/analysis.ts';
import {
  findColdStarts,
  findGaps,
  findLongOutputs,
  findQueueWaits,
  findSlowDatabases,
} from './call-shapes.ts';
import { byStart, type Finding, type Scene } from './finding.ts';
import { groupBy } from '../../kit/group-by.ts';
import { inclusivePathTimes, type PathTimes } from './path-times.ts';
import { repetitionsOf } from './repetitions.ts';
import { findRepetitions, findRetries, findSerialCalls } from './sibling-shapes.ts';

/**
 * Recognises why a trace takes long by how its calls stand to each other, whatever is known of their
 * history; the most to be saved first. `cold` are the spans that say themselves that their instance
 * had just been started.
 */
export function findShapes(
  analysis: TraceAnalysis,
  onPath: PathTimes,
  cold: ReadonlySet<string> = new Set(),
): Finding[] {
  const scene = sceneOf(analysis, onPath, cold);
  return finders
    .flatMap<Finding>((find) => find(scene))
    .toSorted(
      (a, b) =>
        b.savingUs - a.savingUs ||
        (`${a.shape}${a.spanIds[0]}` < `${b.shape}${b.spanIds[0]}` ? -1 : 1),
    );
}

const finders = [
  findRepetitions,
  findSerialCalls,
  findRetries,
  findQueueWaits,
  findGaps,
  findLongOutputs,
  findSlowDatabases,
  findColdStarts,
];

function sceneOf(
  { summary, spans }: TraceAnalysis,
  onPath: PathTimes,
  cold: ReadonlySet<string>,
): Scene {
  const children = spans.filter(({ parent }) => parent !== undefined);
  const families = [...groupBy(children, ({ parent }) => parent?.spanId ?? '').values()].map(
    (family) => family.toSorted(byStart),
  );
  const repetitions = families.flatMap(repetitionsOf);
  const repeated = new Set(repetitions.flat());
  const roots = spans.filter(({ parent }) => parent === undefined);
  const rootsEndUs = roots.reduce((most, { head }) => Math.max(most, head.endUs), summary.startUs);
  const totalUs = summary.endUs - summary.startUs;
  const workUs = [...onPath.values()].reduce((sum, us) => sum + us, 0);
  return {
    totalUs,
    idleUs: Math.max(0, totalUs - workUs),
    spans,
    families,
    repetitions,
    isRepeated: (span) => repeated.has(span),
    outlastsUs: Math.max(0, summary.endUs - rootsEndUs),
    onPath,
    onPathWithin: inclusivePathTimes(spans, onPath),
    isCold: (spanId) => cold.has(spanId),
  };
}
