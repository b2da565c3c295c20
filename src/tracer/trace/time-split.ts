import type { TimeSplit } from './analysis.ts';
import { isAnswer } from './calls.ts';
import type { CriticalPath } from './critical-path.ts';
import { spanKinds, type SpanHead } from './span.ts';
import type { SpanTree, TreeNode } from './tree.ts';

export interface Interval {
  readonly startUs: number;
  readonly endUs: number;
}

/**
 * Says where the time of a trace went. Network is what a client on the critical path waited beyond
 * its server's own duration, so that no clock is compared with another's; processing is all other
 * time in which a span was at work, calls to something that is not traced included; overhead is what
 * is left, time in which no span ran. The interval must enclose the path's.
 */
export function splitTime(tree: SpanTree, path: CriticalPath, interval: Interval): TimeSplit {
  let processingUs = 0;
  let networkUs = 0;
  const waits = new Map<TreeNode, number>();
  const idle: Interval[] = [];
  if (interval.startUs < path.startUs)
    idle.push({ startUs: interval.startUs, endUs: path.startUs });
  for (const { node, fromUs, toUs } of path.sections) {
    if (node === undefined) idle.push({ startUs: fromUs, endUs: toUs });
    else if (isAnsweredCall(node)) waits.set(node, (waits.get(node) ?? 0) + toUs - fromUs);
    else processingUs += toUs - fromUs;
  }
  if (path.endUs < interval.endUs) idle.push({ startUs: path.endUs, endUs: interval.endUs });
  for (const [client, waitUs] of waits) {
    const betweenUs = Math.min(waitUs, betweenThemUs(client, waitUs));
    networkUs += betweenUs;
    processingUs += waitUs - betweenUs;
  }
  if (idle.length > 0) processingUs += busyUs(tree, idle);
  const totalUs = interval.endUs - interval.startUs;
  return { totalUs, networkUs, processingUs, overheadUs: totalUs - networkUs - processingUs };
}

function isAnsweredCall(node: TreeNode): boolean {
  if (node.span.kind !== spanKinds.client) return false;
  for (const child of node.children) if (isAnswer(child.span, node.span)) return true;
  return false;
}

/** What a call took beyond its answer; of several answers nobody can say which waited for which. */
function betweenThemUs(client: TreeNode, waitUs: number): number {
  let answerUs: number | undefined;
  for (const { span } of client.children) {
    if (!isAnswer(span, client.span)) continue;
    if (answerUs !== undefined) return waitUs;
    answerUs = durationOf(span);
  }
  return Math.max(0, durationOf(client.span) - (answerUs ?? 0));
}

function durationOf(span: SpanHead): number {
  return span.endUs - span.startUs;
}

/** For how long any span ran within stretches that are given in order of time. */
function busyUs(tree: SpanTree, stretches: readonly Interval[]): number {
  let sumUs = 0;
  let at = 0;
  let coveredUs = -Infinity;
  for (const { span } of tree.nodes) {
    for (let stretch = stretches[at]; stretch !== undefined; stretch = stretches[at]) {
      const fromUs = Math.max(span.startUs, stretch.startUs, coveredUs);
      const toUs = Math.min(span.endUs, stretch.endUs);
      if (toUs > fromUs) {
        sumUs += toUs - fromUs;
        coveredUs = toUs;
      }
      if (span.endUs < stretch.endUs) break;
      at += 1;
    }
  }
  return sumUs;
}
