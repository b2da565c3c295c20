import type { AnalysedSpan } from '../trace/analysis.ts';
import type { PathSection } from '../trace/critical-path.ts';

/** How many microseconds of a trace's critical path belong to a span itself, by span id. */
export type PathTimes = ReadonlyMap<string, number>;

/** Adds up the sections of each span. */
export function pathTimes(sections: readonly PathSection[]): PathTimes {
  const times = new Map<string, number>();
  for (const { node, fromUs, toUs } of sections) {
    const spanId = node?.span.spanId;
    if (spanId !== undefined) times.set(spanId, (times.get(spanId) ?? 0) + toUs - fromUs);
  }
  return times;
}

/** The same with everything below a span counted to it too: what the path would lack without it. */
export function inclusivePathTimes(spans: readonly AnalysedSpan[], own: PathTimes): PathTimes {
  const times = new Map<string, number>();
  for (const { head } of spans) times.set(head.spanId, own.get(head.spanId) ?? 0);
  for (const { head, parent } of childrenFirst(spans)) {
    const above = parent && times.get(parent.spanId);
    if (parent && above !== undefined) {
      times.set(parent.spanId, above + (times.get(head.spanId) ?? 0));
    }
  }
  return times;
}

/** Every span after all that are below it. */
function childrenFirst(spans: readonly AnalysedSpan[]): readonly AnalysedSpan[] {
  const byId = new Map(spans.map((span) => [span.head.spanId, span]));
  const open = new Map<string, number>();
  for (const { parent } of spans) {
    if (parent) open.set(parent.spanId, (open.get(parent.spanId) ?? 0) + 1);
  }
  const order = spans.filter(({ head }) => !open.has(head.spanId));
  for (let at = 0; at < order.length; at += 1) {
    const id = order[at]?.parent?.spanId;
    const parent = id === undefined ? undefined : byId.get(id);
    if (id === undefined || !parent) continue;
    const left = (open.get(id) ?? 0) - 1;
    open.set(id, left);
    if (left === 0) order.push(parent);
  }
  return order;
}
