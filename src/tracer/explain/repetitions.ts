import type { AnalysedSpan } from '../trace/analysis.ts';
import { byStart, isModelCall } from './finding.ts';
import { groupBy } from '../../kit/group-by.ts';
import { operationKey } from './operation-key.ts';

const repetitionsMin = 5;

/** Each a run of one operation that makes up at least four fifths of its spans in the family. */
export function repetitionsOf(family: readonly AnalysedSpan[]): readonly AnalysedSpan[][] {
  if (family.length < repetitionsMin) return [];
  const candidates = family.filter((span) => !span.head.isError && !isModelCall(span));
  return [...groupBy(candidates, ({ head }) => operationKey(head)).values()].flatMap((group) => {
    if (group.length < repetitionsMin) return [];
    const run = inSequence(group);
    return run.length >= repetitionsMin && run.length * 5 >= group.length * 4 ? [run] : [];
  });
}

/** As many as possible of which none begins before the one before it has ended. */
function inSequence(spans: readonly AnalysedSpan[]): AnalysedSpan[] {
  const byEnd = spans.toSorted((a, b) => a.head.endUs - b.head.endUs || byStart(a, b));
  const run: AnalysedSpan[] = [];
  let endUs = -Infinity;
  for (const span of byEnd) {
    if (span.head.startUs < endUs) continue;
    run.push(span);
    endUs = span.head.endUs;
  }
  return run;
}
