import type { TrafficRow } from './traffic-store.ts';

/** Where replicas tell one another what went through connections. */
export const trafficTopic = 'registry.traffic';

/** What a replica has written, and what runs there. */
export interface TrafficNews {
  readonly replica: string;
  readonly rows: readonly TrafficRow[];
  /** Connections with requests that run there, all of them; absent: as it was said before. */
  readonly active?: readonly (readonly [connectionId: string, count: number])[];
}

/** Well below what an event may hold, at most 2 KiB a row. */
const rowsMax = 100;

/** The same news in events that the bus takes. */
export function splitNews(
  replica: string,
  rows: readonly TrafficRow[],
  active: readonly (readonly [string, number])[],
): TrafficNews[] {
  const events: TrafficNews[] = [{ replica, rows: rows.slice(0, rowsMax), active }];
  for (let from = rowsMax; from < rows.length; from += rowsMax) {
    events.push({ replica, rows: rows.slice(from, from + rowsMax) });
  }
  return events;
}
