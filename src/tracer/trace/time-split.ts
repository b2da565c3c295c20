import type { TimeSplit } from './analysis.ts';
import { isAnswer } from './calls.ts';
import type { CriticalPath } from './critical-path.ts';
import { spanKinds, type SpanHead } from './span.ts';
import type { TreeNode } from './tree.ts';

/**
 * Says where the time of a trace went. Network is what a client on the critical path waited beyond
 * its server's own duration, so that no clock is compared with another's; processing is all other
 * time in which a span was at work, calls to something that is not traced included; overhead is what
 * is left, time in which no span ran.
 */
export function splitTime({ startUs, endUs, sections }: CriticalPath): TimeSplit {
  let processingUs = 0;
  let networkUs = 0;
  const waits = new Map<TreeNode, number>();
  for (const { node, fromUs, toUs } of sections) {
    if (node === undefined) continue;
    if (isAnsweredCall(node)) waits.set(node, (waits.get(node) ?? 0) + toUs - fromUs);
    else processingUs += toUs - fromUs;
  }
  for (const [client, waitUs] of waits) {
    const betweenUs = Math.min(waitUs, betweenThemUs(client, waitUs));
    networkUs += betweenUs;
    processingUs += waitUs - betweenUs;
  }
  const totalUs = endUs - startUs;
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
