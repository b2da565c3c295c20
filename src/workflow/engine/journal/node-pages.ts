import type { ExecutionStatus, NodeRun, NodeFilter, NodeWindow, NodePage } from '../execution.ts';
import { nodeKey } from './journal-row.ts';
import type { EngineSql } from './journal-store.ts';
import {
  countNodes,
  readNodePlaces,
  type NodePlace,
  type NodeRowFilter,
} from './node-pages-store.ts';
import { readNodesAt } from './node-runs-store.ts';
import { rowStatuses, toOpenRun, toRun } from './node-runs.ts';
import { readOpenNodes } from './open-nodes.ts';

interface Stored {
  readonly id: string;
  readonly status: ExecutionStatus;
}

/** A node of the page: known by its row, or running and without one. */
type Place = NodePlace & { readonly run?: NodeRun };

const sliceNodes = 100;
const sliceBytes = 1024 * 1024;

/** A page of the nodes of an execution, read in portions so that nothing else waits for a long one. */
export async function readNodePage(
  sql: EngineSql,
  stored: Stored,
  { filter = {}, offset, limit, bytesMax = Number.POSITIVE_INFINITY }: NodeWindow,
): Promise<NodePage> {
  const rows = rowFilter(filter, stored.status);
  const running = await readRunning(sql, stored, filter);
  const total = (await countNodes(sql, stored.id, rows)) + running.length;
  const first = offset ?? Math.max(0, total - (limit ?? total));
  // Any of those that run may stand before the first row of the page.
  const behind = Math.max(0, first - running.length);
  const window = { filter: rows, offset: behind };
  const places = await readNodePlaces(
    sql,
    stored.id,
    limit === undefined ? window : { ...window, limit: first - behind + limit },
  );
  const merged = merge(places, running, behind);
  const from = Math.max(0, first - merged.offset);
  const page = merged.places.slice(from, limit === undefined ? undefined : from + limit);
  const kept = fitting(page, bytesMax, offset === undefined);
  return { nodes: await readRuns(sql, stored, kept), total };
}

function rowFilter(
  { nodeId, iteration, status }: NodeFilter,
  execution: ExecutionStatus,
): NodeRowFilter {
  return { nodeId, iteration, statuses: status && rowStatuses(status, execution) };
}

/** Nodes that run and have no row, in the order of their start. */
async function readRunning(
  sql: EngineSql,
  { id, status }: Stored,
  filter: NodeFilter,
): Promise<Place[]> {
  // Of one that was completed no node runs any more.
  if (status === 'completed') return [];
  const open = await readOpenNodes(sql, id);
  const runs = [...open.values()].map((node) => toOpenRun(node, status));
  const asked = runs.filter((run) => isAsked(run, filter));
  const written = new Set((await readNodesAt(sql, id, asked)).map(keyOf));
  return asked
    .filter((run) => !written.has(keyOf(run)))
    .toSorted((a, b) => a.startedAtMs - b.startedAtMs)
    .map((run) => ({ ...run, size: 0, run }));
}

function isAsked(run: NodeRun, { nodeId, iteration, status }: NodeFilter): boolean {
  return (
    (nodeId === undefined || run.nodeId === nodeId) &&
    (iteration === undefined || run.iteration === iteration) &&
    (status === undefined || run.status === status)
  );
}

/** Rows behind an offset and what runs between or behind them, with the offset of the first of all. */
function merge(
  rows: readonly NodePlace[],
  running: readonly Place[],
  offset: number,
): { readonly places: readonly Place[]; readonly offset: number } {
  // What began in the same millisecond stands before: a Loop and its first node.
  const firstMs = offset > 0 ? (rows[0]?.startedAtMs ?? Number.POSITIVE_INFINITY) : 0;
  const left = running.filter(({ startedAtMs }) => startedAtMs > firstMs);
  const before = running.length - left.length;
  const places: Place[] = [];
  for (const row of rows) {
    while (left[0] && left[0].startedAtMs <= row.startedAtMs) places.push(...left.splice(0, 1));
    places.push(row);
  }
  return { places: [...places, ...left], offset: offset + before };
}

/** As many from one end as fit, and one at least. */
function fitting(places: readonly Place[], bytesMax: number, isFromEnd: boolean): readonly Place[] {
  let bytes = 0;
  const ordered = isFromEnd ? places.toReversed() : places;
  const count = ordered.findIndex(({ size }, index) => (bytes += size) > bytesMax && index > 0);
  if (count < 0) return places;
  return isFromEnd ? places.slice(places.length - count) : places.slice(0, count);
}

async function readRuns(
  sql: EngineSql,
  { id, status }: Stored,
  places: readonly Place[],
): Promise<NodeRun[]> {
  const runs: NodeRun[] = [];
  for (const slice of slicesOf(places)) {
    const rows = slice.filter(({ run }) => !run);
    const entries = rows.length > 0 ? await readNodesAt(sql, id, rows) : [];
    const byKey = new Map(entries.map((entry) => [keyOf(entry), entry]));
    for (const place of slice) {
      const entry = byKey.get(keyOf(place));
      if (place.run) runs.push(place.run);
      else if (entry) runs.push(toRun(entry, status));
    }
  }
  return runs;
}

/** Portions that are read and parsed in a few milliseconds, or of one output. */
function* slicesOf(places: readonly Place[]): Generator<readonly Place[]> {
  let slice: Place[] = [];
  let bytes = 0;
  for (const place of places) {
    const isFull = slice.length === sliceNodes || bytes + place.size > sliceBytes;
    if (isFull && slice.length > 0) {
      yield slice;
      slice = [];
      bytes = 0;
    }
    slice.push(place);
    bytes += place.size;
  }
  if (slice.length > 0) yield slice;
}

function keyOf({ nodeId, iteration }: Pick<NodePlace, 'nodeId' | 'iteration'>): string {
  return nodeKey(nodeId, iteration);
}
