import { recentEntries } from '../../kit/recent-entries.ts';
import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { AgentProgress } from './orchestration.ts';

/** Where replicas tell one another how orchestrations get on. */
const progressTopic = 'chat.progress';

export interface ProgressFeedOptions {
  readonly bus: Bus;
  readonly log: Log;
  /** Told when there is a first listener, and when there is none any more. */
  readonly onAudience?: (hasListeners: boolean) => void;
}

interface ProgressEvent {
  readonly origin: string;
  readonly progress: AgentProgress;
}

interface KnownTask {
  readonly ownerId: string | undefined;
  /** Its end was told. */
  readonly hasEnded: boolean;
}

type Listener = (progress: AgentProgress) => void;

const rememberedMax = 10_000;

/** How agents get on, for whoever listens on any replica. */
export class ProgressFeed implements AsyncDisposable {
  readonly #options: ProgressFeedOptions;
  readonly #origin = newId('rep');
  readonly #topic: Topic<ProgressEvent>;
  readonly #outlet: Outlet<ProgressEvent>;
  readonly #listeners = new Set<Listener>();
  readonly #tasks = recentEntries<KnownTask>(rememberedMax);
  #subscription: Subscription | undefined;

  constructor(options: ProgressFeedOptions) {
    this.#options = options;
    const { bus, log } = options;
    this.#topic = bus.topic<ProgressEvent>(progressTopic, {
      retainCount: 1_000,
      retainSeconds: 60,
    });
    this.#outlet = new Outlet({ topic: this.#topic, what: 'the progress of agents', log });
  }

  async start(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(({ data: { origin, progress } }) => {
      if (origin !== this.#origin) this.#deliver(progress);
    });
  }

  /** To listeners here at once, to those of other replicas over the bus. */
  tell(progress: AgentProgress): void {
    this.#deliver(progress);
    this.#outlet.tell({ origin: this.#origin, progress });
  }

  /** To listeners here only, because every replica hears of it by itself. */
  tellHere(progress: AgentProgress): void {
    this.#deliver(progress);
  }

  listen(listener: Listener): () => void {
    // Its own, so that one which listens twice is told twice and stops each by itself.
    const own: Listener = (progress) => listener(progress);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#options.onAudience?.(true);
    return () => {
      if (!this.#listeners.delete(own)) return;
      if (this.#listeners.size === 0) this.#options.onAudience?.(false);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
    await this.#outlet[Symbol.asyncDispose]();
  }

  #deliver(told: AgentProgress): void {
    const progress = this.#withOwner(told);
    if (!progress) return;
    for (const listener of this.#listeners) {
      try {
        listener(progress);
      } catch (err) {
        this.#options.log.error({ err }, 'a listener of the progress of agents failed');
      }
    }
  }

  /**
   * The mesh's own news and a run's overtake one another, and the mesh does not say for whom a run has
   * its tasks done. Undefined of a task that has ended: its end is told once, and it does not run again.
   */
  #withOwner(progress: AgentProgress): AgentProgress | undefined {
    const { taskId, status } = progress;
    const known = this.#tasks.get(taskId);
    if (known?.hasEnded) return undefined;
    const ownerId = progress.ownerId ?? known?.ownerId;
    const hasEnded = status !== 'pending' && status !== 'running';
    this.#tasks.set(taskId, { ownerId, hasEnded });
    return ownerId === undefined ? progress : { ...progress, ownerId };
  }
}
