/** The thread that checks proofs, away from the event loop. */
import { parentPort } from 'node:worker_threads';
import { isTaskProved, type ProofTask } from './proof-task.ts';

/** What the thread is asked. */
export interface ProofQuestion {
  readonly id: number;
  readonly task: ProofTask;
}

/** What it posts for each. */
export interface ProofVerdict {
  readonly id: number;
  readonly isProved: boolean;
}

if (parentPort) serve(parentPort);

function serve(port: NonNullable<typeof parentPort>): void {
  port.on('message', ({ id, task }: ProofQuestion) => {
    const verdict: ProofVerdict = { id, isProved: isTaskProved(task) };
    port.postMessage(verdict);
  });
}
