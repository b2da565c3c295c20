import type { Topic } from '../../kit/bus/bus.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';

/** The bus topic that carries task signals between replicas. */
export const taskTopic = 'mesh.tasks';

/** What replicas tell one another of tasks: only that something happened, for the rest is in SQL. */
export type TaskSignal =
  | { readonly kind: 'finished' | 'cancelled'; readonly taskId: string }
  | { readonly kind: 'inbox'; readonly agentId: string };

/** An agent was deregistered: what was asked of it until then ends. */
export interface AgentGone {
  readonly kind: 'gone';
  readonly agentId: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

type Listener = () => void;

/** Wakes those who wait for a task or an inbox, on whichever replica. */
export class TaskSignals implements AsyncDisposable {
  readonly #topic: Topic<TaskSignal | AgentGone>;
  readonly #log: Log;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #goneListeners = new Set<(gone: AgentGone) => void>();
  #subscription: Subscription | undefined;

  constructor(topic: Topic<TaskSignal | AgentGone>, log: Log) {
    this.#topic = topic;
    this.#log = log;
  }

  /** Listens to the other replicas. */
  async start(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#wake(data));
  }

  /** Wakes who waits here at once, elsewhere soon; never rejects. */
  tell(signal: TaskSignal | AgentGone): void {
    this.#wake(signal);
    this.#topic.publish(signal).catch((err: unknown) => {
      this.#log.warn({ err }, 'a task signal did not reach the other replicas');
    });
  }

  /** Calls back whenever the signal comes; the answer ends that. A callback may come for nothing. */
  listen(signal: TaskSignal, listener: Listener): () => void {
    const key = keyOf(signal);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) {
        this.#listeners.delete(key);
      }
    };
  }

  /** Calls back with each agent that has gone, perhaps twice; the answer ends that. */
  onGone(listener: (gone: AgentGone) => void): () => void {
    this.#goneListeners.add(listener);
    return () => this.#goneListeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
  }

  #wake(signal: TaskSignal | AgentGone): void {
    if (signal.kind === 'gone') {
      for (const listener of this.#goneListeners) listener(signal);
      return;
    }
    for (const listener of this.#listeners.get(keyOf(signal)) ?? []) listener();
  }
}

function keyOf(signal: TaskSignal): string {
  const { kind } = signal;
  return `${kind} ${signal.kind === 'inbox' ? signal.agentId : signal.taskId}`;
}

export interface PauseOptions {
  readonly signals: TaskSignals;
  readonly until: TaskSignal;
  /** The longest pause. */
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/** A pause that has begun: made before the state is read, so that no change in between is missed. */
export class Pause {
  readonly #ended: Promise<void>;
  readonly #end: () => void;
  readonly #stopListening: () => void;
  readonly #options: PauseOptions;

  constructor(options: PauseOptions) {
    const { promise, resolve } = deferred();
    this.#ended = promise;
    this.#end = resolve;
    this.#options = options;
    this.#stopListening = options.signals.listen(options.until, resolve);
  }

  /** Resolves at the signal, the abort or the end of the time; the time may be shortened. */
  async over(msMax = Infinity): Promise<void> {
    const { ms, signal } = this.#options;
    const timer = setTimeout(this.#end, Math.min(ms, msMax));
    signal?.addEventListener('abort', this.#end, { once: true });
    if (signal?.aborted) this.#end();
    try {
      await this.#ended;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', this.#end);
      this.stop();
    }
  }

  /** Ends it before its time. */
  cutShort(): void {
    this.#end();
  }

  /** For a pause that nobody needs. */
  stop(): void {
    this.#stopListening();
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let settle: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle?.() };
}
