import { Batch } from '../../api/batch.ts';
import { LastingSocket } from '../../api/lasting-socket.ts';
import type { ExecutionEvent } from '../flow/runs.ts';

/** Events that come together are told together. */
const batchMs = 50;

export interface ExecutionFollower {
  readonly executionId: string;
  /** Reads how the execution stands, which renews the session too. */
  readonly read: () => Promise<unknown>;
  readonly onEvents: (events: readonly ExecutionEvent[]) => void;
  /** Whether events come in. */
  readonly onLive: (isLive: boolean) => void;
}

/**
 * Follows an execution through restarts of the suite until what it answers is called: behind the last event
 * that was seen, and where no socket comes about, by its status.
 */
export function followExecution(follower: ExecutionFollower): () => void {
  const { executionId, read, onEvents, onLive } = follower;
  const told = new Batch(batchMs, onEvents);
  let after = 0;
  const socket = new LastingSocket('workflow', {
    path: () => `/api/v1/executions/${encodeURIComponent(executionId)}/stream?after=${after}`,
    onOpen: () => onLive(true),
    onMessage: (text) => {
      const event = readEvent(text);
      if (!event) return;
      after = event.seq;
      told.add(event);
    },
    onLoss: () => onLive(false),
    beforeReturn: read,
  });
  return () => {
    socket[Symbol.dispose]();
    told[Symbol.dispose]();
  };
}

/** Undefined for what is no event, such as what went wrong. */
function readEvent(text: string): ExecutionEvent | undefined {
  const message: unknown = JSON.parse(text);
  if (typeof message !== 'object' || message === null || !('executionId' in message))
    return undefined;
  // The service tells events by its contract.
  return message as ExecutionEvent;
}
