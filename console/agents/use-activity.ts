import { useState } from 'react';
import { useFollow, type Following } from '../api/use-follow.ts';
import { addLine, type ActivityEvent, type LogLine } from './activity-log.ts';

export interface ActivityFilters {
  /** All where there are none. */
  readonly agentIds: readonly string[];
  readonly eventTypes: readonly string[];
}

export interface ActivityLog extends Following {
  readonly lines: readonly LogLine[];
}

const historyCount = 500;

/** What happens on the mesh, live, behind what happened lately. */
export function useActivity(filters: ActivityFilters): ActivityLog {
  const wanted = JSON.stringify(filters);
  const [log, setLog] = useState<{ wanted: string; lines: readonly LogLine[] }>();
  // What was seen under other filters does not answer the present question.
  const linesOf = (kept: typeof log) => (kept?.wanted === wanted ? kept.lines : []);
  const add = (line: LogLine) =>
    setLog((kept) => ({ wanted, lines: addLine(linesOf(kept), line) }));
  const following = useFollow('mesh', '/api/v1/activity/stream', {
    subscription: { filters },
    historyCount,
    // The stream is by its contract.
    onEvent: (event) => add(event as ActivityEvent),
    onGap: (gap) => add({ ...gap, type: 'gap' }),
  });
  return { ...following, lines: linesOf(log) };
}
