import type { TraceFilter } from '../reading/list-sql.ts';
import { openRow, sayOpen, storable, type OpenSaying } from './open-row.ts';
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

/** Open traces that memory tells of, and whether the database has rows of others, or may have. */
export interface OpenTraces extends OpenListing {
  readonly hasRows: boolean;
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
    if (!isShown(trace, filter) || !hasTerms(trace, filter)) continue;
    const said = sayOpen(trace);
    if (!isWithin(said, filter) || !isNamed(said, filter)) continue;
    ofAnyStatus.total += 1;
    if (said.status > 0) ofAnyStatus.failed += 1;
    if (status === undefined || said.status === status)
      matches.push({ trace, startUs: said.startUs });
  }
  const rows = newestOf(matches, limit).map(({ trace }) => openRow(trace, packer));
  return { rows: JSON.stringify(rows), total: matches.length, ofAnyStatus };
}

/** Many are open and few are shown, so that only those that may be are put in order. */
function newestOf(matches: readonly Match[], limit: number): Match[] {
  const starts = Float64Array.from(matches, ({ startUs }) => startUs).toSorted();
  const fromUs = starts.at(-limit) ?? -Infinity;
  const newest = matches.filter(({ startUs }) => startUs >= fromUs);
  return newest.toSorted(compareMatches).slice(0, limit);
}

/** The newest first. */
function compareMatches(a: Match, b: Match): number {
  return b.startUs - a.startUs || (a.trace.traceId < b.trace.traceId ? -1 : 1);
}

function isShown(
  { day, receivedAtMs }: OpenTrace,
  { oldestDay, receivedAfterMs }: TraceFilter,
): boolean {
  return day > oldestDay || (day === oldestDay && receivedAtMs >= receivedAfterMs);
}

function hasTerms(trace: OpenTrace, { terms = [] }: TraceFilter): boolean {
  return terms.every((term) => trace.terms.has(term));
}

function isWithin({ startUs, endUs }: OpenSaying, filter: TraceFilter): boolean {
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

function isNamed({ agents, speaker }: OpenSaying, { agentId, name, service }: TraceFilter) {
  return (
    (agentId === undefined || [...agents].some((agent) => storable(agent) === agentId)) &&
    (name === undefined || storable(speaker.name) === name) &&
    (service === undefined || storable(speaker.service) === service)
  );
}
