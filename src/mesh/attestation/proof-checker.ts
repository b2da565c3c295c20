import type { Worker } from 'node:worker_threads';
import { startThread } from '../../kit/entry-file.ts';
import { Fault } from '../../kit/errors.ts';
import type { ProofTask } from './proof-task.ts';
import type { ProofQuestion, ProofVerdict } from './proof-thread.ts';
import type { Proof } from './schnorr.ts';

interface Waiting {
  readonly resolve: (isProved: boolean) => void;
  readonly reject: (error: unknown) => void;
}

// About two seconds of work: who comes later had better come again.
const waitingMax = 1_500;

/** Checks proofs in a thread of its own, which begins with the first check and after a death anew. */
export class ProofChecker implements AsyncDisposable {
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  /** Rejects with `exhausted` when too many wait, `unavailable` when the thread died or is closed. */
  check(task: ProofTask): Promise<boolean> {
    if (this.#isClosed) return Promise.reject(unavailable());
    if (this.#waiting.size >= waitingMax) {
      const message = 'too many proofs wait to be checked';
      return Promise.reject(new Fault('exhausted', message, { retryAfter: 2 }));
    }
    this.#thread ??= this.#start();
    this.#lastId += 1;
    const question: ProofQuestion = { id: this.#lastId, task };
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#thread?.postMessage(question);
    });
  }

  /** Whether a registration may name the key: its holder meant it for this agent. */
  checkKeyProof(agentId: string, publicKey: string, proof: Proof): Promise<boolean> {
    return this.check({ kind: 'key', publicKey, agentId, proof });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = startThread({ beside: import.meta.url, name: 'proof-thread' }, {});
    let reason: unknown;
    thread.on('message', ({ id, isProved }: ProofVerdict) => {
      this.#waiting.get(id)?.resolve(isProved);
      this.#waiting.delete(id);
    });
    thread.on('error', (error) => (reason = error));
    thread.once('exit', () => {
      this.#thread = undefined;
      for (const { reject } of this.#waiting.values()) reject(unavailable(reason));
      this.#waiting.clear();
    });
    return thread;
  }
}

function unavailable(cause?: unknown): Fault {
  return new Fault('unavailable', 'proofs cannot be checked now', { cause, retryAfter: 1 });
}
