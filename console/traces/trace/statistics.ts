/** What of a span is added up; times in microseconds. */
export interface Counted {
  readonly name: string;
  readonly service: string;
  readonly status: string;
  readonly durationUs: number;
  readonly selfUs: number;
}

/** The spans of a group together. */
export interface GroupSums {
  readonly service: string;
  /** Empty where the group is a whole service. */
  readonly name: string;
  readonly count: number;
  readonly errors: number;
  readonly totalUs: number;
  readonly longestUs: number;
  readonly medianUs: number;
  readonly selfUs: number;
}

/** Adds spans up by service, or by operation of a service. */
export function sumSpans(spans: readonly Counted[], groupBy: 'service' | 'operation'): GroupSums[] {
  const groups = new Map<string, Counted[]>();
  for (const span of spans) {
    const key = groupBy === 'service' ? span.service : JSON.stringify([span.service, span.name]);
    const group = groups.get(key);
    if (group) group.push(span);
    else groups.set(key, [span]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ ...sumsOf(group), name: groupBy === 'service' ? '' : first.name }] : [];
  });
}

function sumsOf(group: readonly Counted[]): GroupSums {
  const durations = group.map(({ durationUs }) => durationUs).toSorted((a, b) => a - b);
  return {
    service: group[0]?.service ?? '',
    name: '',
    count: group.length,
    errors: group.filter(({ status }) => status !== 'success').length,
    totalUs: durations.reduce((sum, us) => sum + us, 0),
    longestUs: durations.at(-1) ?? 0,
    medianUs: durations[Math.ceil(durations.length / 2) - 1] ?? 0,
    selfUs: group.reduce((sum, one) => sum + one.selfUs, 0),
  };
}
