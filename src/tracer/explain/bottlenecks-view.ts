import type { BaselineTable } from '../intake/baseline-table.ts';
import { baselineKey } from '../intake/baseline-table.ts';
import type { StoredTrace, View } from '../reading/view.ts';
import type { BottlenecksAnswer } from '../schemas/explain-answers.ts';
import { analyse } from '../trace/analyse.ts';
import type { Span, SpanHead } from '../trace/span.ts';
import { toMs } from '../trace/shares.ts';
import { study } from '../trace/study.ts';
import { findBottlenecks, type Bottleneck } from './bottlenecks.ts';
import type { Finding } from './finding.ts';
import { operationKey } from './operation-key.ts';
import { inclusivePathTimes, pathTimes } from './path-times.ts';
import { recommendBottleneck, recommendShape } from './recommendations.ts';
import { percentOf, twoDecimals } from './rounding.ts';
import { agreeing, withShapes } from './shape-bottlenecks.ts';
import { findShapes } from './shapes.ts';

export interface BottlenecksInput {
  /** Histories of the trace's operations, as far as there are any. */
  readonly baselines: BaselineTable;
}

/** An operation as its history is asked for. */
export interface TracedOperation {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
}

const operationsMax = 1_000;

/** The operations of a trace, each once, those with the longest spans first; at most 1,000. */
export const operationsView: View<unknown> = ({ spans }) => {
  const longest = new Map<string, Span>();
  for (const span of spans) {
    const key = operationKey(span);
    const known = longest.get(key);
    if (!known || lastsUs(known) < lastsUs(span)) longest.set(key, span);
  }
  return [...longest.values()]
    .toSorted((a, b) => lastsUs(b) - lastsUs(a))
    .slice(0, operationsMax)
    .map(({ service, name, kind }): TracedOperation => ({ service, name, kind }));
};

function lastsUs({ startUs, endUs }: SpanHead): number {
  return endUs - startUs;
}

const listedMax = 100;
const shapesMax = 50;
const spanIdsMax = 20;

/** Why a trace takes as long as it does: its bottlenecks and its shapes, with what to do. */
export const bottlenecksView: View<BottlenecksInput> = (trace, { baselines }) => {
  const { tree, path, summary } = study(trace.spans);
  const totalUs = path.endUs - path.startUs;
  const onPath = pathTimes(path.sections);
  const analysis = { ...analyse(trace.spans), summary };
  const suspects = findBottlenecks(
    analysis,
    (operation) => baselines.get(baselineKey(operation)),
    onPath,
  );
  // Siblings are in the order of one clock.
  const aligned = analyse(tree.nodes.map(({ span }) => span));
  const onPathWithin = inclusivePathTimes(aligned.spans, onPath);
  const findings = agreeing(
    findShapes(aligned, onPath, coldStartsOf(trace)),
    suspects,
    onPathWithin,
  );
  const bottlenecks = withShapes(suspects, findings, {
    totalUs,
    headOf: (spanId) => tree.byId.get(spanId)?.span,
    onPathWithin,
  });
  const findingsOf = findingsBySpan(findings);
  return {
    traceId: trace.traceId,
    bottlenecks: bottlenecks.slice(0, listedMax).map((bottleneck) => ({
      ...bottleneckEntry(bottleneck, totalUs),
      recommendations: [
        ...recommendBottleneck(bottleneck, findingsOf.get(bottleneck.head.spanId) ?? []),
      ],
    })),
    totalBottlenecks: bottlenecks.length,
    overallPerformance: performanceOf(bottlenecks),
    totalDuration: toMs(totalUs),
    shapes: findings.slice(0, shapesMax).map((finding) => shapeEntry(finding, totalUs)),
    totalShapes: findings.length,
    isComplete: trace.isComplete,
  } satisfies BottlenecksAnswer;
};

/** Spans of a function whose instance was started for them (`faas.coldstart`). */
function coldStartsOf({ spans }: StoredTrace): ReadonlySet<string> {
  return new Set(
    spans
      .filter(({ attributes, resource }) =>
        [attributes['faas.coldstart'], resource['faas.coldstart']].includes(true),
      )
      .map(({ spanId }) => spanId),
  );
}

function findingsBySpan(findings: readonly Finding[]): ReadonlyMap<string, Finding[]> {
  const bySpan = new Map<string, Finding[]>();
  for (const finding of findings) {
    for (const spanId of finding.spanIds) {
      const known = bySpan.get(spanId);
      if (known) known.push(finding);
      else bySpan.set(spanId, [finding]);
    }
  }
  return bySpan;
}

function bottleneckEntry({ head, ...found }: Bottleneck, totalUs: number) {
  const { finding } = found;
  const durationUs = finding ? finding.remainsUs + finding.savingUs : lastsUs(head);
  const shareUs = finding ? Math.min(durationUs, totalUs) : found.onPathUs;
  return {
    spanId: head.spanId,
    name: head.name,
    service: head.service,
    agent: head.agent,
    duration: toMs(durationUs),
    expectedDuration: toMs(found.expectedUs),
    slowdownFactor: twoDecimals(Math.max(durationUs, 1) / Math.max(found.expectedUs, 1)),
    basis: found.basis,
    reason: found.reason,
    severity: found.severity,
    savingMs: toMs(found.savingUs),
    percentOfTrace: percentOf(shareUs, totalUs),
    onCriticalPath: found.onPathUs > 0,
  };
}

function shapeEntry(finding: Finding, totalUs: number) {
  return {
    shape: finding.shape,
    spanIds: finding.spanIds.slice(0, spanIdsMax),
    spans: finding.spanIds.length,
    savingMs: toMs(finding.savingUs),
    percentOfTrace: percentOf(finding.savingUs, totalUs),
    evidence: evidenceEntry(finding.evidence),
    recommendation: recommendShape(finding),
  };
}

/** What is known, its microseconds as milliseconds: `longestUs` becomes `longestMs`. */
function evidenceEntry(evidence: object): Record<string, unknown> {
  const entries = Object.entries(evidence) as [string, unknown][];
  return Object.fromEntries(
    entries
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) =>
        name.endsWith('Us') ? [`${name.slice(0, -2)}Ms`, toMs(Number(value))] : [name, value],
      ),
  );
}

/** By the worst: a trace that failed is never good. */
function performanceOf(bottlenecks: readonly Bottleneck[]): 'good' | 'degraded' | 'poor' {
  const severities = new Set(bottlenecks.map(({ severity }) => severity));
  if (severities.has('critical') || severities.has('high')) return 'poor';
  return severities.has('medium') ? 'degraded' : 'good';
}
