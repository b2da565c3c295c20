import type { SpanHead } from '../trace/span.ts';
import { costlierFirst, type Bottleneck, type Severity } from './bottlenecks.ts';
import { excessOfStatement } from './call-shapes.ts';
import type { Finding } from './finding.ts';
import type { PathTimes } from './path-times.ts';

/** What the bottlenecks of shapes are made from. */
export interface ShapedTrace {
  readonly totalUs: number;
  readonly headOf: (spanId: string) => SpanHead | undefined;
  /** A span's time on the critical path, with what lies below. */
  readonly onPathWithin: PathTimes;
}

/**
 * A slow statement saves what its bottleneck saves, so that one answer never says two numbers of a
 * span. The most to be saved first.
 */
export function agreeing(
  findings: readonly Finding[],
  bottlenecks: readonly Bottleneck[],
  onPathWithin: PathTimes,
): Finding[] {
  const judged = new Map(
    bottlenecks
      .filter(({ reason }) => reason !== 'share')
      .map(({ head, savingUs }) => [head.spanId, savingUs]),
  );
  return findings
    .map((finding) => {
      if (finding.shape !== 'slow-database') return finding;
      const savingUs = finding.spanIds.reduce((sum, spanId) => {
        const onPathUs = onPathWithin.get(spanId) ?? 0;
        return sum + (judged.get(spanId) ?? excessOfStatement(onPathUs));
      }, 0);
      const takesUs = finding.savingUs + finding.remainsUs;
      return { ...finding, savingUs, remainsUs: Math.max(0, takesUs - savingUs) };
    })
    .toSorted((a, b) => b.savingUs - a.savingUs);
}

/**
 * Adds one bottleneck for each shape that is worth a hundredth of the trace: the heaviest of its spans
 * that is not one already. Where all are, the heaviest stands for the shape if that says more; a
 * failure stays what it is, and what is only a large share gives way to its shape.
 */
export function withShapes(
  bottlenecks: readonly Bottleneck[],
  findings: readonly Finding[],
  trace: ShapedTrace,
): Bottleneck[] {
  const listed = new Map(bottlenecks.map((bottleneck) => [bottleneck.head.spanId, bottleneck]));
  for (const finding of findings) {
    if (finding.savingUs < Math.max(savingMinUs, trace.totalUs * shareMin)) continue;
    const heads = heaviestFirst(finding, trace);
    const free = heads.find(({ spanId }) => (listed.get(spanId)?.reason ?? 'share') === 'share');
    const head = free ?? heads.find(({ spanId }) => isWeaker(listed.get(spanId), finding));
    if (head) listed.set(head.spanId, bottleneckOf(finding, head, trace));
  }
  return [...listed.values()].toSorted(costlierFirst);
}

const savingMinUs = 1_000;
const shareMin = 0.01;

/** Statements save what their bottlenecks do, which say it already. */
function isWeaker(known: Bottleneck | undefined, { shape, savingUs }: Finding): boolean {
  if (!known || known.finding || shape === 'slow-database') return false;
  return known.reason !== 'error' && known.savingUs < savingUs;
}

/** By their own time on the path: not by what a queue delivered of theirs. */
function heaviestFirst({ spanIds }: Finding, { headOf, onPathWithin }: ShapedTrace): SpanHead[] {
  return spanIds
    .flatMap((spanId) => headOf(spanId) ?? [])
    .map((head) => {
      const lastsUs = head.endUs - head.startUs;
      return { head, lastsUs, onPathUs: Math.min(lastsUs, onPathWithin.get(head.spanId) ?? 0) };
    })
    .toSorted((a, b) => b.onPathUs - a.onPathUs || b.lastsUs - a.lastsUs)
    .map(({ head }) => head);
}

function bottleneckOf(finding: Finding, head: SpanHead, trace: ShapedTrace): Bottleneck {
  return {
    head,
    expectedUs: finding.remainsUs,
    basis: 'trace',
    reason: finding.shape,
    severity: severityOf(finding.savingUs / Math.max(1, trace.totalUs)),
    onPathUs: trace.onPathWithin.get(head.spanId) ?? 0,
    savingUs: finding.savingUs,
    finding,
  };
}

function severityOf(share: number): Severity {
  if (share >= 0.6) return 'critical';
  if (share >= 0.3) return 'high';
  return share >= 0.1 ? 'medium' : 'low';
}
