import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { openSealer } from '../../kit/secrets/sealing.ts';
import { silentLog } from '../../kit/testing.ts';
import { Callbacks, type CallbacksOptions } from '../callbacks/callbacks.ts';
import type { Engine, Execution, StartRequest } from '../engine/execution.ts';
import { batchTopic, type BatchNews } from './batch.ts';
import { Batches, type BatchesOptions } from './batches.ts';

/** A database with empty tables of batches, triggers and callbacks, and no others. */
export async function openBatchTables(): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-batches-'));
  const own = new URL('../migrations/003-batches.sql', import.meta.url);
  await cp(own, join(folder, '001-batches.sql'));
  try {
    return await openTestTables('workflow', pathToFileURL(`${folder}/`));
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Part = Pick<Engine, 'start' | 'wait' | 'cancel' | 'resume' | 'find'>;

/** How an execution of `SetEngine` is to end. */
export type Verdict = 'completed' | 'failed' | 'hold';

/** An engine whose executions end as a test says, shared by replicas like a database. */
export class SetEngine implements Part {
  readonly executions = new Map<string, Execution>();
  readonly starts: StartRequest[] = [];
  readonly resumed: string[] = [];
  /** Thrown by the next starts. */
  readonly failures: Fault[] = [];
  verdictOf: (inputs: StartRequest['inputs'], index: number | undefined) => Verdict = () =>
    'completed';
  now: () => number = Date.now;
  mostRunning = 0;
  readonly #running = new Set<string>();
  readonly #byKey = new Map<string, string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  get runningCount(): number {
    return [...this.executions.values()].filter(({ status }) => status === 'running').length;
  }

  /** Forgets everything. */
  clear(): void {
    this.executions.clear();
    this.#running.clear();
    this.#byKey.clear();
    this.starts.length = 0;
    this.resumed.length = 0;
    this.mostRunning = 0;
    this.verdictOf = () => 'completed';
  }

  async start(request: StartRequest): Promise<Execution> {
    await Promise.resolve();
    const failure = this.failures.shift();
    if (failure) throw failure;
    const key = `${request.ownerId} ${request.idempotencyKey ?? newId('key')}`;
    const known = this.executions.get(this.#byKey.get(key) ?? '');
    if (known) return known;
    this.starts.push(request);
    const { workflowId, trigger, ownerId, inputs, batch } = request;
    const execution: Execution = {
      id: newId('exe'),
      workflowId,
      version: request.version ?? 1,
      status: 'running',
      trigger,
      ownerId,
      inputs,
      startedAtMs: this.now(),
      tokensUsed: 0,
      cost: 0,
      ...(batch ? { batch } : {}),
    };
    this.#byKey.set(key, execution.id);
    this.executions.set(execution.id, execution);
    this.#noteRunning(execution);
    this.#judge(execution);
    return execution;
  }

  async wait(
    id: string,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Execution> {
    if (this.#read(id).status !== 'running') return this.#read(id);
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs).unref();
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(end);
      signal?.addEventListener('abort', end, { once: true });
    });
    return this.#read(id);
  }

  find(id: string): Promise<Execution | undefined> {
    return Promise.resolve(this.executions.get(id));
  }

  async cancel(id: string): Promise<Execution> {
    await Promise.resolve();
    if (this.#read(id).status !== 'running') throw new Fault('conflict', 'it has ended');
    return this.end(id, 'cancelled');
  }

  async resume(id: string): Promise<Execution> {
    await Promise.resolve();
    this.resumed.push(id);
    const { completedAtMs: _, error: __, ...execution } = this.#read(id);
    const running: Execution = { ...execution, status: 'running' };
    this.executions.set(id, running);
    this.#noteRunning(running);
    this.#judge(running);
    return running;
  }

  end(id: string, status: 'completed' | 'failed' | 'cancelled'): Execution {
    const error = { nodeId: 'n', attempt: 1, message: 'it broke', code: 'BROKEN' };
    const ended: Execution = {
      ...this.#read(id),
      status,
      completedAtMs: this.now(),
      tokensUsed: 3,
      cost: 0.5,
      ...(status === 'failed' ? { error } : { result: { end: status } }),
    };
    this.executions.set(id, ended);
    this.#running.delete(id);
    for (const resolve of this.#waiting.get(id) ?? []) resolve();
    this.#waiting.delete(id);
    return ended;
  }

  #noteRunning({ id }: Execution): void {
    this.#running.add(id);
    this.mostRunning = Math.max(this.mostRunning, this.#running.size);
  }

  #judge({ id, inputs, batch }: Execution): void {
    const verdict = this.verdictOf(inputs, batch?.index);
    if (verdict === 'hold') return;
    setImmediate(() => {
      // A test may have begun anew meanwhile.
      if (this.executions.has(id)) this.end(id, verdict);
    });
  }

  #read(id: string): Execution {
    const execution = this.executions.get(id);
    if (!execution) throw new Fault('not_found', 'there is no such execution');
    return execution;
  }
}

/** What stands around batches and triggers in tests: a database, a bus, keys and callbacks. */
export async function openGround(options: { readonly isLoopbackAllowed?: boolean } = {}) {
  const { isLoopbackAllowed = true } = options;
  const lifetime = new Lifetime(silentLog);
  const database = lifetime.own('the database', await openBatchTables());
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const egress = lifetime.own('egress', createEgress({ allow: [], isLoopbackAllowed }));
  const folder = await mkdtemp(join(tmpdir(), 'ennead-keys-'));
  lifetime.defer('the keys', () => rm(folder, { recursive: true }));
  const sealer = await openSealer({ folder, mayCreate: true });
  const engine = new SetEngine();
  const topic = bus.topic<BatchNews>(batchTopic);
  const plans: BatchesOptions['plans'] = {
    load: (workflowId) => {
      if (!workflowId.startsWith('wfl_')) {
        const reason = 'workflow_not_found';
        return Promise.reject(new Fault('not_found', 'there is no such workflow', { reason }));
      }
      // Nothing here runs a plan; it is only asked which components it has.
      return Promise.resolve({ version: 1, plan: { nodes: new Map() } as never });
    },
  };
  const openCallbacks = (over: Partial<CallbacksOptions> = {}) =>
    new Callbacks({
      sql: database,
      egress,
      sealer,
      log: silentLog,
      callbacksOf: () => Promise.resolve(undefined),
      statusOf: ({ id, status }) => Promise.resolve({ executionId: id, status }),
      secretOf: (workflowId) => Promise.resolve(`secret of ${workflowId}`),
      ...over,
    });
  const callbacks = lifetime.own('the callbacks', openCallbacks());
  callbacks.start();
  const openBatches = (over: Partial<BatchesOptions> = {}) =>
    new Batches({
      sql: database,
      engine,
      plans,
      callbacks,
      sealer,
      topic,
      log: silentLog,
      monitorUrlOf: (id) => `ws://workflow.test/api/v1/batches/${id}/stream`,
      isAlone: false,
      ...over,
    });
  return {
    database,
    bus,
    egress,
    sealer,
    engine,
    plans,
    callbacks,
    openCallbacks,
    openBatches,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** A clock that only a test moves. */
export class SetClock {
  ms = Date.UTC(2026, 10, 21, 12, 0, 30);

  readonly now = (): number => this.ms;

  advance(ms: number): void {
    this.ms += ms;
  }
}
