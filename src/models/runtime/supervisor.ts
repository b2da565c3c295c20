import type { ChildSettings, ToChild, ToParent } from './protocol.ts';
import { Worker } from './worker.ts';

export interface Death {
  readonly reason: string;
  readonly signal: NodeJS.Signals | null;
  /** No new child starts before that. */
  readonly backoffMs: number;
}

export interface SupervisorListener {
  received(message: ToParent): void;
  /** The child has died; another one starts with the next message after the pause. */
  died(death: Death): void;
}

/** Keeps one child process: starts it when it is needed, and after a death not at once again. */
export class Supervisor {
  readonly #settings: ChildSettings;
  readonly #listener: SupervisorListener;
  #worker: Worker | undefined;
  #isReady = false;
  /** Deaths of the child since a task last came to its end. */
  #crashes = 0;
  #restartAt = 0;

  constructor(settings: ChildSettings, listener: SupervisorListener) {
    this.#settings = settings;
    this.#listener = listener;
  }

  get state(): 'idle' | 'starting' | 'ready' | 'crashed' {
    if (this.#worker) return this.#isReady ? 'ready' : 'starting';
    return this.#crashes > 0 ? 'crashed' : 'idle';
  }

  /** The child process, while there is one. */
  get pid(): number | undefined {
    return this.#worker?.pid;
  }

  /** How long no new child may be started; 0 while there is one. */
  get backoffMs(): number {
    return this.#worker ? 0 : Math.max(0, this.#restartAt - performance.now());
  }

  /** Sends to the child, which is started if there is none. */
  send(message: ToChild): void {
    this.#worker ??= this.#fork();
    this.#worker.send(message);
  }

  /** Sends to the child if there is one. */
  notify(message: ToChild): void {
    this.#worker?.send(message);
  }

  /** To be told of each task that came to its end: the child works, so its next death is a first one. */
  noteSuccess(): void {
    this.#crashes = 0;
  }

  /** Ends a child that hangs; the listener hears of it as of any other death. */
  kill(): void {
    this.#worker?.kill();
  }

  /** Ends the child in peace and waits for it. */
  async retire(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.stop();
  }

  #fork(): Worker {
    this.#isReady = false;
    return new Worker(this.#settings, {
      received: (message) => {
        if (message.type === 'ready') this.#isReady = true;
        else this.#listener.received(message);
      },
      died: (reason, signal) => this.#recover(reason, signal),
    });
  }

  #recover(reason: string, signal: NodeJS.Signals | null): void {
    this.#worker = undefined;
    const backoffMs = restartDelayMs(++this.#crashes);
    this.#restartAt = performance.now() + backoffMs;
    this.#listener.died({ reason, signal, backoffMs });
  }
}

/** The first restart is immediate; then the pauses double, so a crash loop costs little. */
function restartDelayMs(crashes: number): number {
  return crashes <= 1 ? 0 : Math.min(30_000, 1000 * 2 ** (crashes - 2));
}
