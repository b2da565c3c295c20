import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import type { MeshAgent } from '../../mesh/agent.ts';

/** Most tasks end sooner and need nobody to watch. */
const firstPauseMs = 500;
const waitSeconds = 30;
const retryMs = 2_000;

const ended: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/**
 * Watches a task that an agent took from its inbox, which nobody tells that it was called off; aborts the
 * work then. Ends with the signal.
 */
export async function watchTask(
  calls: MeshAgent['calls'],
  taskId: string,
  { signal, callOff }: { readonly signal: AbortSignal; readonly callOff: (why: Fault) => void },
): Promise<void> {
  let pauseMs = firstPauseMs;
  const path = `/api/v1/tasks/${encodeURIComponent(taskId)}?wait=${waitSeconds}`;
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    pauseMs = 0;
    try {
      const timeoutMs = (waitSeconds + 10) * 1_000;
      const state = await calls.send({ method: 'GET', path, signal, timeoutMs });
      const { status } = state as { readonly status?: string };
      if (ended.has(status)) {
        callOff(new Fault('cancelled', 'The task was called off.'));
        return;
      }
    } catch (error) {
      // Not to be seen: then its own time limit must do.
      if (error instanceof Fault && error.code === 'not_found') return;
      pauseMs = retryMs;
    }
  }
}
