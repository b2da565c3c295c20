import { openSocket } from '../../api/events.ts';
import type { ExecutionEvent } from '../flow/runs.ts';

/** Between two attempts to hear of an execution again. */
const pauseMs = 1_500;
/** Events that come together are told together. */
const batchMs = 50;

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Reads how the execution stands, which renews the session too; false once it has ended. */
  readonly read: () => Promise<boolean>;
  readonly onEvents: (events: readonly ExecutionEvent[]) => void;
  /** Whether events come in. */
  readonly onLive: (isLive: boolean) => void;
}

/**
 * Follows an execution to its end, through restarts of the suite: behind the last event that was seen, and
 * where no socket comes about, by its status.
 */
export async function follow(executionId: string, options: FollowOptions): Promise<void> {
  const { signal, read, onLive } = options;
  let after = 0;
  while (!signal.aborted) {
    const isRunning = await read().catch(() => undefined);
    if (isRunning === false || signal.aborted) return;
    if (isRunning) after = await listen(executionId, after, options);
    if (signal.aborted) return;
    onLive(false);
    await pause(signal);
  }
}

/** Tells events until the socket closes; answers the last event's number. */
async function listen(
  executionId: string,
  after: number,
  { signal, onEvents, onLive }: FollowOptions,
): Promise<number> {
  const path = `/api/v1/executions/${encodeURIComponent(executionId)}/stream?after=${after}`;
  const socket = openSocket('workflow', path);
  const abort = () => socket.close();
  signal.addEventListener('abort', abort, { once: true });
  let last = after;
  let batch: ExecutionEvent[] = [];
  const tell = () => {
    const events = batch;
    batch = [];
    if (events.length > 0 && !signal.aborted) onEvents(events);
  };
  socket.addEventListener('open', () => onLive(true));
  socket.addEventListener('message', ({ data }) => {
    const event = readEvent(data);
    if (!event) return;
    last = event.seq;
    if (batch.push(event) === 1) setTimeout(tell, batchMs);
  });
  await new Promise((resolve) => socket.addEventListener('close', resolve));
  signal.removeEventListener('abort', abort);
  tell();
  return last;
}

/** Undefined for what is no event, such as what went wrong. */
function readEvent(data: unknown): ExecutionEvent | undefined {
  const message: unknown = typeof data === 'string' ? JSON.parse(data) : undefined;
  if (typeof message !== 'object' || message === null || !('executionId' in message))
    return undefined;
  // The service tells events by its contract.
  return message as ExecutionEvent;
}

async function pause(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, pauseMs);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
