/** A part of a trace's time, in microseconds after its start. */
export interface TimeWindow {
  readonly fromUs: number;
  readonly toUs: number;
}

interface Timed {
  readonly offsetUs: number;
  readonly durationUs: number;
}

/** From the first start to the last end, also where clocks let a span begin before the trace. */
export function wholeOf(spans: readonly Timed[]): TimeWindow {
  let fromUs = 0;
  let toUs = 1;
  for (const { offsetUs, durationUs } of spans) {
    fromUs = Math.min(fromUs, offsetUs);
    toUs = Math.max(toUs, offsetUs + durationUs);
  }
  return { fromUs, toUs };
}

/** A span's time with a little around it, within the whole. */
export function windowAround({ offsetUs, durationUs }: Timed, whole: TimeWindow): TimeWindow {
  const edge = Math.max(1, durationUs * 0.05);
  return clamp({ fromUs: offsetUs - edge, toUs: offsetUs + durationUs + edge }, whole);
}

/** The window between two points, in either order, within the whole. */
export function windowBetween(oneUs: number, otherUs: number, whole: TimeWindow): TimeWindow {
  return clamp({ fromUs: Math.min(oneUs, otherUs), toUs: Math.max(oneUs, otherUs) }, whole);
}

/** Where a time stands in the window: 0 at its left edge, 1 at its right. */
export function shareOf(us: number, { fromUs, toUs }: TimeWindow): number {
  return (us - fromUs) / (toUs - fromUs);
}

/** The time at a share of the window. */
export function timeAt(share: number, { fromUs, toUs }: TimeWindow): number {
  return fromUs + share * (toUs - fromUs);
}

/** Where a span's bar begins and how long it is, of the window; undefined when it is not in it. */
export function barOf(
  { offsetUs, durationUs }: Timed,
  window: TimeWindow,
): { readonly start: number; readonly length: number } | undefined {
  const start = Math.max(0, shareOf(offsetUs, window));
  const end = Math.min(1, shareOf(offsetUs + durationUs, window));
  return end < 0 || start > 1 ? undefined : { start, length: Math.max(0, end - start) };
}

function clamp({ fromUs, toUs }: TimeWindow, whole: TimeWindow): TimeWindow {
  const from = Math.max(whole.fromUs, Math.min(fromUs, whole.toUs - 1));
  return { fromUs: from, toUs: Math.max(from + 1, Math.min(toUs, whole.toUs)) };
}
