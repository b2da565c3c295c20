import type { NodeEntry } from './journal-row.ts';
import { nodeKey } from './journal-row.ts';
import { openNodes, type Underway } from './open-nodes.ts';
import type { OutputSecrets } from './output-secrets.ts';
import type { Past } from './walk-options.ts';

/** What an execution knows of its earlier life. */
export interface History {
  readonly entries: ReadonlyMap<string, NodeEntry>;
  readonly lastSeq: number;
  /** The number of the newest node. */
  readonly lastPlace: number;
  readonly outputBytes: number;
  /** Attempts that nodes go on with, by the keys of the nodes. */
  readonly underway: ReadonlyMap<string, Underway>;
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

/** Reads the journal of one execution. */
export function historyOf(
  entries: readonly NodeEntry[],
  lastSeq: number,
  retries: Parameters<typeof openNodes>[0] = [],
): History {
  return {
    underway: new Map([...openNodes(retries)].filter(([, { isOver }]) => !isOver)),
    entries: new Map(entries.map((entry) => [nodeKey(entry.nodeId, entry.iteration), entry])),
    lastSeq,
    lastPlace: entries.reduce((last, { body }) => Math.max(last, body.place), 0),
    outputBytes: entries.reduce((sum, { output }) => sum + (output?.length ?? 0), 0),
  };
}

/** What a walk takes over from the journal: what ended is never run again, what waits goes on waiting. */
export function pastOf(
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

export function readOutput(output: string | undefined): unknown {
  return output === undefined ? null : JSON.parse(output);
}

/** Whether a node waits for an execution within, or was ended while it did. */
export function hasChild(
  { entries }: Pick<History, 'entries'>,
  as: 'waiting' | 'cancelled',
): boolean {
  for (const { status, body } of entries.values()) {
    if (status === as && body.reason === 'child') return true;
  }
  return false;
}
