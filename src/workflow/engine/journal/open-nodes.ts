import type { Usage } from '../../components/component.ts';
import type { ExecutionEvent } from '../execution.ts';
import { readEvents } from './executions-store.ts';
import type { EngineSql } from './journal-store.ts';
import { nodeKey } from './journal-row.ts';

type StoredEvent = Omit<ExecutionEvent, 'executionId'>;

/** The attempt of a node that is under way, or waits for its time. */
export interface Underway {
  /** From 1. */
  readonly attempt: number;
  /** When it may begin. */
  readonly atMs: number;
  /** How long the pause before it is, so that it is no longer where the clock that said when was ahead. */
  readonly pauseMs: number;
  /** What the attempts before it used. */
  readonly usage?: Usage;
}

/** A node that began and of whose end nothing was said. */
export interface OpenNode extends Underway {
  /** Of its last start. */
  readonly event: StoredEvent;
  /** Its execution ended meanwhile. */
  readonly isOver: boolean;
}

/**
 * Nodes that began and of whose end nothing was said, by their keys. A start after a crash goes on with
 * the attempts before it; one in an execution that was resumed has all of them again. Events come in
 * portions where `open` is what those before came to.
 */
export function openNodes(
  events: readonly StoredEvent[],
  open = new Map<string, OpenNode>(),
): Map<string, OpenNode> {
  for (const event of events) {
    if (event.nodeId === undefined) {
      for (const [key, node] of open) open.set(key, { ...node, isOver: true });
      continue;
    }
    const key = nodeKey(event.nodeId, event.iteration ?? '');
    const found = open.get(key);
    const next = afterEvent(event, found?.isOver ? undefined : found);
    if (next) open.set(key, next);
    else open.delete(key);
  }
  return open;
}

/** `openNodes` of all events of an execution, read in portions so that nothing else waits for many. */
export async function readOpenNodes(
  sql: EngineSql,
  executionId: string,
): Promise<Map<string, OpenNode>> {
  const open = new Map<string, OpenNode>();
  let after = 0;
  for (;;) {
    const events = await readEvents(sql, executionId, after);
    if (events.length === 0) return open;
    openNodes(events, open);
    after = events.at(-1)?.seq ?? after;
  }
}

/** The node after an event of it; undefined when that was its end. */
function afterEvent(event: StoredEvent, known: OpenNode | undefined): OpenNode | undefined {
  if (event.type === 'node-started') {
    return { attempt: 1, atMs: 0, pauseMs: 0, ...known, event, isOver: false };
  }
  if (event.type !== 'node-retrying') return undefined;
  const { attempt = 0, delay = 0, timestamp, usage } = event;
  const next = {
    event: known?.event ?? event,
    attempt: attempt + 1,
    atMs: Date.parse(timestamp) + delay,
    pauseMs: delay,
    isOver: false,
  };
  return usage ? { ...next, usage } : next;
}
