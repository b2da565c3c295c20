import type { SpanRow } from './span-rows.ts';

interface Timed {
  readonly spanId: string;
  readonly offsetUs: number;
  readonly durationUs: number;
}

/** How long each row's span was at work while none of its children was, in microseconds, by key. */
export function selfTimesOf<S extends Timed>(
  rows: readonly SpanRow<S>[],
): ReadonlyMap<string, number> {
  const children = new Map<string, S[]>();
  for (const { parentKey, span } of rows) {
    if (parentKey === undefined) continue;
    const family = children.get(parentKey);
    if (family) family.push(span);
    else children.set(parentKey, [span]);
  }
  return new Map(
    rows.map(({ key, span }) => [key, span.durationUs - coveredUs(span, children.get(key) ?? [])]),
  );
}

/** What of a span its children cover together; where two run side by side it counts once. */
function coveredUs({ offsetUs, durationUs }: Timed, children: readonly Timed[]): number {
  const endUs = offsetUs + durationUs;
  let covered = 0;
  let reachedUs = offsetUs;
  for (const child of children.toSorted((a, b) => a.offsetUs - b.offsetUs)) {
    const childEndUs = Math.min(endUs, child.offsetUs + child.durationUs);
    const from = Math.max(reachedUs, child.offsetUs);
    if (childEndUs > from) {
      covered += childEndUs - from;
      reachedUs = childEndUs;
    }
  }
  return covered;
}
