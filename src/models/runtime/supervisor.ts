import type { ChildSettings, ToChild, ToParent } from './protocol.ts';
import { Watch } from './watch.ts';
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
  /** Whether the child has tasks. */
  isWorking(): boolean;
}

export interface SupervisorOptions {
  /** How long the child may show no sign of work; see `Stillness`. */
  readonly stallMs: number;
}

/**
 * Keeps one child process: starts it when it is needed, ends it when it hangs, and after a death starts it
 * not at once again.
 */
export class Supervisor {
  readonly #settings: ChildSettings;
  readonly #listener: SupervisorListener;
  readonly #stallMs: number;
  #worker: Worker | undefined;
  #watch: Watch | undefined;
  #isReady = false;
  /** Deaths of the child since a task last came to its end. */
  #crashes = 0;
  #restartAt = 0;

  constructor(
    settings: ChildSettings,
    listener: SupervisorListener,
    { stallMs }: SupervisorOptions,
  ) {
    this.#settings = settings;
    this.#listener = listener;
    this.#stallMs = stallMs;
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

  /** Ends a child that does not let go of a task; the listener hears of it as of any other death. */
  kill(): void {
    this.#worker?.kill('it does not let go of a task');
  }

  /** Ends the child in peace and waits for it. */
  async retire(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#watch?.[Symbol.dispose]();
    await worker?.stop();
  }

  #fork(): Worker {
    this.#isReady = false;
    const worker = new Worker(this.#settings, {
      received: (message) => {
        watch.heard(message.type !== 'pong');
        if (message.type === 'ready') this.#isReady = true;
        else if (message.type !== 'pong') this.#listener.received(message);
      },
      died: (reason, signal) => this.#recover(reason, signal),
    });
    const watch = new Watch(
      {
        pid: worker.pid,
        isWorking: () => this.#listener.isWorking(),
        ping: () => worker.send({ type: 'ping' }),
        hung: (reason) => worker.kill(reason),
      },
      this.#stallMs,
    );
    this.#watch = watch;
    return worker;
  }

  #recover(reason: string, signal: NodeJS.Signals | null): void {
    this.#worker = undefined;
    this.#watch?.[Symbol.dispose]();
    const backoffMs = restartDelayMs(++this.#crashes);
    this.#restartAt = performance.now() + backoffMs;
    this.#listener.died({ reason, signal, backoffMs });
  }
}

/** The first restart is immediate; then the pauses double, so a crash loop costs little. */
function restartDelayMs(crashes: number): number {
  return crashes <= 1 ? 0 : Math.min(30_000, 1000 * 2 ** (crashes - 2));
}
