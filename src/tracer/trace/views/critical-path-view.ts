import type { View } from '../../reading/view.ts';
import type { CriticalPathAnswer } from '../../schemas/trace-answers.ts';
import { shareOut, toMs } from '../shares.ts';
import { study, type Study } from '../study.ts';
import type { Span } from '../span.ts';

export interface CriticalPathInput {
  /** By the clocks that the spans were sent with, though they contradict each other. */
  readonly raw?: boolean | undefined;
}

/** The spans that decided how long a trace took, each with its time on the path. */
export const criticalPathView: View<CriticalPathInput> = (trace, input): CriticalPathAnswer => {
  const { path, summary } = study(trace.spans, { isRaw: input.raw });
  const totalUs = summary.endUs - summary.startUs;
  const { onPath, pathUs, gapUs } = timesOf(path);
  const totalDuration = toMs(totalUs);
  const [criticalPathDuration = 0, uninstrumented = 0] = shareOut(totalDuration, [
    pathUs,
    gapUs,
    totalUs - pathUs - gapUs,
  ]);
  const durations = shareOut(criticalPathDuration, [...onPath.values()]);
  return {
    traceId: trace.traceId,
    criticalPath: [...onPath].map(([span, us], index) => ({
      spanId: span.spanId,
      name: span.name,
      service: span.service,
      agent: span.agent,
      duration: durations[index] ?? 0,
      percentOfTotal: percentOf(us, totalUs),
    })),
    totalDuration,
    criticalPathDuration,
    percentOfTotal: percentOf(pathUs, totalUs),
    ...(gapUs > 0 && { uninstrumented }),
  };
};

function timesOf(path: Study<Span>['path']): {
  onPath: ReadonlyMap<Span, number>;
  pathUs: number;
  gapUs: number;
} {
  const onPath = new Map<Span, number>();
  let pathUs = 0;
  let gapUs = 0;
  for (const { node, fromUs, toUs } of path.sections) {
    const us = toUs - fromUs;
    if (node === undefined) gapUs += us;
    else {
      pathUs += us;
      onPath.set(node.span, (onPath.get(node.span) ?? 0) + us);
    }
  }
  return { onPath, pathUs, gapUs };
}

/** With two decimals; all of a trace that took no time. */
function percentOf(partUs: number, totalUs: number): number {
  return totalUs === 0 ? 100 : Math.round((partUs / totalUs) * 10_000) / 100;
}
