import type { View } from '../../reading/view.ts';
import type { CriticalPathAnswer } from '../../schemas/trace-answers.ts';
import { isQueued } from '../calls.ts';
import type { PathSection } from '../critical-path.ts';
import { shareOut, toMs } from '../shares.ts';
import { study, type Study } from '../study.ts';
import type { Span } from '../span.ts';
import type { TreeNode } from '../tree.ts';

export interface CriticalPathInput {
  /** By the clocks that the spans were sent with, though they contradict each other. */
  readonly raw?: boolean | undefined;
}

/** The spans that decided how long a trace took, each with its time on the path. */
export const criticalPathView: View<CriticalPathInput> = (trace, input): CriticalPathAnswer => {
  const studied = study(trace.spans, { isRaw: input.raw });
  const { path } = studied;
  const totalUs = path.endUs - path.startUs;
  const { onPath, pathUs, gapUs, queueUs } = timesOf(path);
  const totalDuration = toMs(totalUs);
  const [criticalPathDuration = 0, uninstrumented = 0] = shareOut(totalDuration, [pathUs, gapUs]);
  const durations = shareOut(criticalPathDuration, [...onPath.values()]);
  const async = asyncSpans(studied);
  return {
    traceId: trace.traceId,
    criticalPath: [...onPath].map(([span, us], index) => ({
      spanId: span.spanId,
      name: span.name,
      service: span.service,
      agent: span.agent,
      duration: durations[index] ?? 0,
      percentOfTotal: percentOf(us, totalUs),
      ...(async.has(span) && { isAsync: true }),
    })),
    totalDuration,
    criticalPathDuration,
    percentOfTotal: percentOf(pathUs, totalUs),
    ...(gapUs > 0 && { uninstrumented }),
    ...(queueUs > 0 && { queueWait: Math.min(toMs(queueUs), uninstrumented) }),
  };
};

function timesOf({ sections }: Study<Span>['path']) {
  const onPath = new Map<Span, number>();
  let pathUs = 0;
  let gapUs = 0;
  let queueUs = 0;
  for (const [at, section] of sections.entries()) {
    const us = section.toUs - section.fromUs;
    if (section.node === undefined) {
      gapUs += us;
      queueUs += queuedUs(section, sections[at + 1]?.loose?.node);
    } else {
      pathUs += us;
      onPath.set(section.node.span, (onPath.get(section.node.span) ?? 0) + us);
    }
  }
  return { onPath, pathUs, gapUs, queueUs };
}

/** For how long of an idle time the message lay in its queue that was taken at its end. */
function queuedUs({ fromUs, toUs }: PathSection, next: TreeNode | undefined): number {
  if (!next?.parent || next.span.startUs !== toUs) return 0;
  const { span: sender } = next.parent;
  return isQueued(next.span, sender) ? Math.max(0, toUs - Math.max(fromUs, sender.startUs)) : 0;
}

/** Those that the path follows after a root had ended, while no root ran. */
function asyncSpans({ tree, path }: Study<Span>): ReadonlySet<Span> {
  const endedUs = tree.roots.reduce((least, { span }) => Math.min(least, span.endUs), Infinity);
  const async = new Set<Span>();
  for (const { node, loose } of path.sections)
    if (node && loose && loose.fromUs >= endedUs) async.add(node.span);
  return async;
}

/** With two decimals; all of a trace that took no time. */
function percentOf(partUs: number, totalUs: number): number {
  return totalUs === 0 ? 100 : Math.round((partUs / totalUs) * 10_000) / 100;
}
