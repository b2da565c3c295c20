import type { Plan } from '../../flow/plan.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import type { NodeEntry } from '../journal/journal-row.ts';
import { nodeKey } from '../journal/journal-row.ts';
import type { OpenNode } from '../journal/open-nodes.ts';
import type { OutputSecrets } from '../journal/output-secrets.ts';
import { Walk } from '../walk/walk.ts';
import type { Past } from '../walk/walk-options.ts';
import { readOutput } from '../journal/outputs.ts';

/** What an execution knows of its earlier life. */
export interface History {
  readonly entries: ReadonlyMap<string, NodeEntry>;
  readonly lastSeq: number;
  /** The number of the newest node. */
  readonly lastPlace: number;
  readonly outputBytes: number;
  /** Attempts that nodes go on with, by the keys of the nodes; of first ones not all. */
  readonly underway: ReadonlyMap<string, OpenNode>;
  /** Absent where no node gives any. */
  readonly secrets?: OutputSecrets;
}

/** Of an execution that never ran. */
export const noHistory: History = {
  entries: new Map(),
  lastSeq: 0,
  lastPlace: 0,
  outputBytes: 0,
  underway: new Map(),
};

/** What the journal of one execution says, with the nodes that began and did not end as far as they are known. */
export function historyOf(
  entries: readonly NodeEntry[],
  lastSeq: number,
  open: ReadonlyMap<string, OpenNode> = new Map(),
): History {
  return {
    underway: new Map([...open].filter(([, { isOver }]) => !isOver)),
    entries: new Map(entries.map((entry) => [nodeKey(entry.nodeId, entry.iteration), entry])),
    lastSeq,
    lastPlace: entries.reduce((last, { body }) => Math.max(last, body.place), 0),
    outputBytes: entries.reduce((sum, { output }) => sum + (output?.length ?? 0), 0),
  };
}

/** What a walk takes over from the journal: what ended is never run again, what waits goes on waiting. */
function pastOf(
  { entries, secrets }: Pick<History, 'entries' | 'secrets'>,
  nodeId: string,
  iteration: string,
): Past | undefined {
  const entry = entries.get(nodeKey(nodeId, iteration));
  if (!entry) return undefined;
  const { status, body } = entry;
  if (status === 'waiting' || status === 'signalled') return { kind: 'parked', output: undefined };
  if (status !== 'completed' && status !== 'continued') return undefined;
  const output = secrets ? secrets.open(entry.output) : readOutput(entry.output);
  return { kind: 'done', output, handle: body.handle, isFailed: status === 'continued' };
}

/** A walk over what an execution knows of its earlier life. */
export function walkAnew({
  stored,
  plan,
  history,
}: {
  readonly stored: StoredExecution;
  readonly plan: Plan;
  readonly history: History;
}): Walk {
  const { id, workflowId, request } = stored;
  return new Walk({
    plan,
    request,
    execution: { id, workflowId },
    secrets: history.secrets,
    past: (nodeId, iteration) => pastOf(history, nodeId, iteration),
  });
}

/** Whether a node waits for an execution within. */
export function waitsForChild({ entries }: Pick<History, 'entries'>): boolean {
  return some(entries, ({ status, body }) => status === 'waiting' && body.reason === 'child');
}

/** Whether a node was ended with what ran it; it may have waited for an execution within, or begun one. */
export function hasCancelled({ entries }: Pick<History, 'entries'>): boolean {
  return some(entries, ({ status }) => status === 'cancelled');
}

/** Whether the time of a Loop or a Parallel is over that has begun and not ended. */
export function hasOverdue(entries: readonly NodeEntry[], nowMs: number): boolean {
  return entries.some(
    ({ status, body }) =>
      status === 'open' && body.wakeAtMs !== undefined && body.wakeAtMs <= nowMs,
  );
}

function some(
  entries: ReadonlyMap<string, NodeEntry>,
  isMeant: (entry: NodeEntry) => boolean,
): boolean {
  for (const entry of entries.values()) if (isMeant(entry)) return true;
  return false;
}
