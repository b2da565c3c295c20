import type { Answer } from '../../api/contracts.ts';

export type TraceSummary = Answer<'tracer', 'GET /api/v1/traces'>['traces'][number];

/** A question is stored at most so long after its request came. */
const storingMsMax = 1_000;

/** When a trace may have begun whose question was stored at a time. */
export function windowAround(storedAt: string): { startTime: string; endTime: string } {
  const at = Date.parse(storedAt);
  return {
    startTime: new Date(at - storingMsMax).toISOString(),
    endTime: new Date(at + storingMsMax).toISOString(),
  };
}

/** The traces of questions that began at that time, the likeliest first: messages do not name theirs. */
export function tracesOfTurn(
  traces: readonly TraceSummary[],
  storedAt: string,
): readonly TraceSummary[] {
  const at = Date.parse(storedAt);
  const distance = ({ startTime }: TraceSummary) => Math.abs(at - Date.parse(startTime));
  return traces
    .filter(({ name }) => name.startsWith('POST /api/chat/') && !name.endsWith('/stop'))
    .filter(({ startTime }) => Date.parse(startTime) <= at + 10)
    .toSorted((one, other) => distance(one) - distance(other));
}
