import type { TraceFilter } from '../reading/list-store.ts';
import { openRow, sayOpen, type OpenSummary } from './open-row.ts';
import type { OpenTrace } from './open-trace.ts';
import type { TagPacker } from './tag-packer.ts';

/** What is asked of open traces. */
export interface OpenQuery {
  readonly filter: TraceFilter;
  /** How many of the newest are to be described. */
  readonly limit: number;
}

/** Open traces that match a filter. */
export interface OpenListing {
  /** The newest of them, a JSON array of `OpenRow`s. */
  readonly rows: string;
  readonly total: number;
  /** Of those that match but for their status. */
  readonly ofAnyStatus: { readonly total: number; readonly failed: number };
}

export const nothingOpen: OpenListing = {
  rows: '[]',
  total: 0,
  ofAnyStatus: { total: 0, failed: 0 },
};

interface Match {
  readonly trace: OpenTrace;
  readonly startUs: number;
}

/** Lists traces as the statements of `list-store.ts` would list their rows. */
export function listOpen(
  traces: Iterable<OpenTrace>,
  { filter: { status, ...filter }, limit }: OpenQuery,
  packer: TagPacker,
): OpenListing {
  const matches: Match[] = [];
  const ofAnyStatus = { total: 0, failed: 0 };
  for (const trace of traces) {
    const { row } = sayOpen(trace);
    if (!isMatch(row, filter)) continue;
    ofAnyStatus.total += 1;
    if (row.status > 0) ofAnyStatus.failed += 1;
    if (status === undefined || row.status === status)
      matches.push({ trace, startUs: row.start_us });
  }
  matches.sort(compareMatches);
  const rows = matches.slice(0, limit).map(({ trace }) => openRow(trace, packer));
  return { rows: JSON.stringify(rows), total: matches.length, ofAnyStatus };
}

/** The newest first. */
function compareMatches(a: Match, b: Match): number {
  return b.startUs - a.startUs || (a.trace.traceId < b.trace.traceId ? -1 : 1);
}

function isMatch(row: OpenSummary, filter: Omit<TraceFilter, 'status'>): boolean {
  return isShown(row, filter) && isWithin(row, filter) && isNamed(row, filter);
}

function isShown(row: OpenSummary, { oldestDay, receivedAfterMs }: TraceFilter): boolean {
  return row.day > oldestDay || (row.day === oldestDay && row.received_at >= receivedAfterMs);
}

function isWithin({ start_us: startUs, end_us: endUs }: OpenSummary, filter: TraceFilter): boolean {
  const { fromUs = -Infinity, toUs = Infinity, endFromUs = -Infinity } = filter;
  const { minDurationUs = -Infinity, maxDurationUs = Infinity } = filter;
  const durationUs = endUs - startUs;
  return (
    startUs >= fromUs &&
    startUs <= toUs &&
    endUs >= endFromUs &&
    durationUs >= minDurationUs &&
    durationUs <= maxDurationUs
  );
}

function isNamed(row: OpenSummary, { agentId, name, service, terms = [] }: TraceFilter): boolean {
  return (
    (agentId === undefined || row.agents.includes(agentId)) &&
    (name === undefined || row.name === name) &&
    (service === undefined || row.service === service) &&
    terms.every((term) => row.terms.includes(term))
  );
}
