import type { TimeWindow } from './time-window.ts';
import { shareOf } from './time-window.ts';

export interface MinimapSpan {
  readonly service: string;
  readonly status: string;
  readonly offsetUs: number;
  readonly durationUs: number;
}

export const minimapWidth = 1_000;
export const minimapHeight = 60;
/** What failed is drawn over all services. */
export const failedLayer = '';

/** All spans as one SVG path for each service, from the top down in the order of the rows. */
export function drawMinimap(
  spans: readonly MinimapSpan[],
  whole: TimeWindow,
): ReadonlyMap<string, string> {
  const lines = new Map<string, string[]>();
  const drawn = new Set<string>();
  const lineHeight = minimapHeight / Math.max(1, spans.length);
  for (const [at, span] of spans.entries()) {
    const layer = span.status === 'success' ? span.service : failedLayer;
    const from = Math.round(shareOf(span.offsetUs, whole) * minimapWidth);
    const to = Math.round(shareOf(span.offsetUs + span.durationUs, whole) * minimapWidth);
    const line = `M${from} ${Math.round((at + 0.5) * lineHeight * 2) / 2}H${Math.max(from + 2, to)}`;
    // Many spans of a large trace are on the same points.
    if (drawn.has(layer + line)) continue;
    drawn.add(layer + line);
    const path = lines.get(layer) ?? [];
    path.push(line);
    lines.set(layer, path);
  }
  return new Map([...lines].map(([layer, parts]) => [layer, parts.join('')]));
}
