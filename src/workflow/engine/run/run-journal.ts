import type { NodeDone, NodeParked } from '../../components/component.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import type { ExecutionEvent, NodeError } from '../execution.ts';
import type { NodeBody, NodeEntry, StatusChange } from '../journal/journal-row.ts';
import type { NodeFailure } from './node-failure.ts';
import type { History } from './recovery.ts';
import type { RunEnvironment } from './run-environment.ts';
import type { Step } from '../walk/walk-frame.ts';

/** `fenced`: others run the execution now; `failed`: the database did not take it. */
export type WriteState = 'stored' | 'fenced' | 'failed';

/** What may be said and not be stored before nothing further should begin. */
const unstoredEventsMax = 2_000;
const unstoredBytesMax = 8 * 1024 * 1024;

type Given<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** What is known of a node from its start until its end, and said with every row of it. */
type Begin = Pick<NodeBody, 'place' | 'startedAtMs' | 'reason' | 'detail'>;

/** What one run has to say, collected until it is written. */
export class RunJournal {
  readonly #stored: StoredExecution;
  readonly #env: Pick<RunEnvironment, 'journal' | 'clock' | 'events' | 'log'>;
  readonly #begins = new Map<string, { readonly step: Step; readonly begin: Begin }>();
  #hasCancelled = false;
  #nodes: NodeEntry[] = [];
  #events: ExecutionEvent[] = [];
  #seq: number;
  #place: number;
  #last: Promise<WriteState> = Promise.resolve('stored');
  #unstoredEvents = 0;
  #unstoredBytes = 0;

  constructor(
    stored: StoredExecution,
    history: History,
    env: Pick<RunEnvironment, 'journal' | 'clock' | 'events' | 'log'>,
  ) {
    this.#stored = stored;
    this.#env = env;
    this.#seq = history.lastSeq;
    this.#place = history.lastPlace;
  }

  /** Whether so much is said that the database has to come after first. */
  get isBehind(): boolean {
    return this.#unstoredEvents >= unstoredEventsMax || this.#unstoredBytes >= unstoredBytesMax;
  }

  /** Whether nodes were ended with what ran them, in this life. */
  get hasCancelled(): boolean {
    return this.#hasCancelled;
  }

  started(step: Step): void {
    this.#place += 1;
    const begin = { place: this.#place, startedAtMs: this.#env.clock.nowMs() };
    this.#begins.set(step.key, { step, begin });
    this.#tell('node-started', at(step));
  }

  /** Keeps when a node began that was parked in an earlier life. */
  remember(step: Step, { place, startedAtMs, reason, detail }: NodeBody): void {
    // Fields that are undefined are not written as JSON.
    const begin = { place, startedAtMs, reason, detail } as Begin;
    this.#begins.set(step.key, { step, begin });
  }

  /** Keeps when a node began that an earlier life was running; one that has begun again is known. */
  recall(step: Step, startedAtMs: number): void {
    if (this.#begins.has(step.key)) return;
    this.#place += 1;
    this.#begins.set(step.key, { step, begin: { place: this.#place, startedAtMs } });
  }

  /** A Loop or a Parallel began, which has to be over at the given time if there is one. */
  opened(step: Step, wakeAtMs: number | undefined): void {
    this.started(step);
    const body = this.#bodyOf(step, { wakeAtMs });
    this.#keep(step, { status: 'open', output: undefined, body });
    this.remember(step, body);
  }

  /** A node that began, and is ended with what ran it: a Loop or a Parallel where it is dropped, else all. */
  cancelled(step: Step, isDropped?: true): void {
    if (!this.#begins.has(step.key)) return;
    this.#hasCancelled = true;
    const body = this.#bodyOf(step, { isDropped });
    this.#keep(step, { status: 'cancelled', output: undefined, body });
    this.#tell('node-cancelled', { ...at(step), duration: body.duration });
  }

  /** Of all that began and has not ended. */
  cancelledAll(): void {
    for (const { step } of this.#begins.values()) this.cancelled(step);
  }

  skipped(step: Step): void {
    this.#place += 1;
    const body = { place: this.#place, attempt: 0, startedAtMs: this.#env.clock.nowMs() };
    this.#keep(step, { status: 'skipped', output: undefined, body });
    this.#tell('node-skipped', at(step));
  }

  ended(
    step: Step,
    end: { readonly output: string; readonly value: unknown; readonly attempt: number } & Given<
      Pick<NodeDone, 'handle' | 'usage' | 'entityCreated'>
    >,
  ): void {
    const { output, value, attempt, handle, usage, entityCreated } = end;
    const body = this.#bodyOf(step, { attempt, handle, usage, entityCreated });
    this.#keep(step, { status: 'completed', output, body });
    const { duration } = body;
    this.#tell('node-completed', { ...at(step), duration, output: value, attempt });
  }

  failed(
    step: Step,
    end: {
      readonly failure: NodeFailure;
      readonly attempt: number;
      readonly isContinued: boolean;
      readonly output?: string;
      readonly handle?: string | undefined;
      readonly usage?: NodeDone['usage'];
      /** Something around it goes on without it. */
      readonly isDropped?: boolean;
    },
  ): void {
    const { attempt, handle, output, usage } = end;
    const { error } = end.failure;
    const isDropped = end.isDropped || undefined;
    const body = this.#bodyOf(step, { attempt, handle, error, usage, isDropped });
    this.#keep(step, { status: end.isContinued ? 'continued' : 'failed', output, body });
    const { duration } = body;
    this.#tell('node-failed', { ...at(step), duration, error: { ...error, attempt }, attempt });
  }

  retrying(
    step: Step,
    retry: { error: NodeFailure['error']; attempt: number; delayMs: number } & Given<
      Pick<NodeDone, 'usage'>
    >,
  ): void {
    const { error, attempt, delayMs, usage } = retry;
    this.#tell('node-retrying', {
      ...at(step),
      error: { ...error, attempt },
      attempt,
      delay: delayMs,
      usage,
    });
  }

  waiting(
    step: Step,
    parked: { readonly output: string; readonly attempt: number } & Given<
      Pick<NodeParked, 'reason' | 'wakeAtMs' | 'detail'>
    >,
  ): void {
    const { output, attempt, reason, wakeAtMs, detail } = parked;
    const body = this.#bodyOf(step, { attempt, reason, wakeAtMs, detail });
    this.#keep(step, { status: 'waiting', output, body });
    this.remember(step, body);
    this.#tell('node-waiting', { ...at(step), attempt });
  }

  ending(
    type: 'workflow-completed' | 'workflow-failed',
    end: { readonly result?: unknown; readonly error?: NodeError },
  ): void {
    const duration = this.#env.clock.nowMs() - this.#stored.startedAtMs;
    this.#tell(type, { duration, ...end });
  }

  /** Resolves when all that was said until now is stored, or why it is not. */
  write(change?: StatusChange): Promise<WriteState> {
    if (!change && this.#nodes.length + this.#events.length === 0) return this.#last;
    const nodes = this.#nodes;
    const events = this.#events;
    this.#nodes = [];
    this.#events = [];
    const before = this.#last;
    const written = this.#write({ nodes, events, ...(change ? { change } : {}) });
    // One that was not taken is followed by none that may be.
    this.#last = before.then(async (state) => {
      const own = await written;
      return state === 'stored' ? own : state;
    });
    return this.#last;
  }

  async #write(said: {
    readonly nodes: readonly NodeEntry[];
    readonly events: readonly ExecutionEvent[];
    readonly change?: StatusChange;
  }): Promise<WriteState> {
    const { id, epoch } = this.#stored;
    const { journal, events, log } = this.#env;
    try {
      const isTaken = await journal.write({ executionId: id, epoch, ...said });
      if (!isTaken) return 'fenced';
      events.tell(id, said.events);
      return 'stored';
    } catch (error) {
      log.error({ err: error, executionId: id }, 'an execution could not be written down');
      return 'failed';
    } finally {
      this.#unstoredEvents -= said.events.length;
      this.#unstoredBytes -= bytesOf(said.nodes);
    }
  }

  #bodyOf(step: Step, end: Given<Omit<NodeBody, 'place' | 'startedAtMs'>>): NodeBody {
    const nowMs = this.#env.clock.nowMs();
    const begun = this.#begins.get(step.key)?.begin;
    const known = begun ?? { place: (this.#place += 1), startedAtMs: nowMs };
    const { attempt = 1, ...rest } = end;
    const duration = Math.max(0, nowMs - known.startedAtMs);
    // Fields that are undefined are not written as JSON.
    return { ...known, attempt, duration, ...rest } as NodeBody;
  }

  #keep(step: Step, entry: Pick<NodeEntry, 'status' | 'output' | 'body'>): void {
    const { nodeId, iteration } = step;
    this.#begins.delete(step.key);
    this.#nodes.push({ nodeId, iteration, ...entry });
    this.#unstoredBytes += entry.output?.length ?? 0;
  }

  #tell(
    type: ExecutionEvent['type'],
    said: Given<Omit<ExecutionEvent, 'type' | 'executionId' | 'timestamp' | 'seq'>>,
  ): void {
    this.#seq += 1;
    const timestamp = new Date(this.#env.clock.nowMs()).toISOString();
    const executionId = this.#stored.id;
    // Fields that are undefined are not sent as JSON.
    const event = { type, executionId, ...said, timestamp, seq: this.#seq } as ExecutionEvent;
    this.#events.push(event);
    this.#unstoredEvents += 1;
  }
}

function at({ nodeId, iteration }: Step) {
  return iteration === '' ? { nodeId } : { nodeId, iteration };
}

/** Of their outputs, counted as UTF-16 units. */
function bytesOf(nodes: readonly NodeEntry[]): number {
  return nodes.reduce((sum, { output }) => sum + (output?.length ?? 0), 0);
}
