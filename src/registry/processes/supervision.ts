import { Fault } from '../../kit/errors.ts';
import type { Environment } from '../../kit/config.ts';
import type { Log } from '../../kit/log.ts';
import type { AllowList } from './allow-list.ts';
import type { Launcher } from './bounds.ts';
import { ChildTransport } from './child-transport.ts';
import type { ProcessDiagnostics } from './diagnostics.ts';
import { buildEnvironment, checkGivenVariables } from './environment.ts';
import { ProcessFolders } from './process-folders.ts';
import { readProcessTable } from '../../kit/processes/process-table.ts';
import { Restarts } from './restarts.ts';
import { RunningProcess } from './running-process.ts';
import type { SpawnedServer, SpawnOptions, SpawnOrder } from './spawned.ts';

export interface SupervisionOptions {
  readonly allowList: AllowList;
  /** Where the processes' working folders lie. */
  readonly folder: string;
  /** This process's environment, of which a server's process sees a few harmless variables. */
  readonly environment: Environment;
  readonly launcher: Launcher;
  readonly childrenMax: number;
  readonly memoryMaxBytes: number;
  /** A server's process and its descendants, together. */
  readonly processesMax: number;
  readonly frameMaxBytes: number;
  /** Between two looks at the memory in use; 2,000. */
  readonly watchIntervalMs?: number;
  readonly log: Log;
}

interface Child {
  readonly process: RunningProcess;
  readonly transport: ChildTransport;
  /** Resolves when it is gone and no longer counted or written down. */
  readonly gone: Promise<void>;
}

/** Runs the commands of stdio connections: one process for each, all ended when this is disposed. */
export class Supervision implements AsyncDisposable {
  readonly #options: SupervisionOptions;
  readonly #folders: ProcessFolders;
  readonly #restarts = new Restarts();
  readonly #children = new Map<string, Child>();
  /** By connection, what the next spawn has to wait for. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #starting = new Set<string>();
  #watch: NodeJS.Timeout | undefined;
  #isDisposed = false;

  private constructor(options: SupervisionOptions, folders: ProcessFolders) {
    this.#options = options;
    this.#folders = folders;
  }

  /** Ends first what an earlier start of this registry has left running. */
  static async open(options: SupervisionOptions): Promise<Supervision> {
    const folders = new ProcessFolders(options.folder, options.log);
    await folders.endOrphans();
    return new Supervision(options, folders);
  }

  /** Processes that run, without their descendants. */
  get size(): number {
    return this.#children.size;
  }

  /** See `SpawnServer`; also `unavailable` (`stopping`) once disposed. */
  async spawn(order: SpawnOrder, { signal }: SpawnOptions = {}): Promise<SpawnedServer> {
    const before = this.#turns.get(order.id) ?? Promise.resolve();
    const turn = before.catch(() => {}).then(async () => this.#spawnInTurn(order, signal));
    this.#turns.set(order.id, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(order.id) === turn) this.#turns.delete(order.id);
    }
  }

  /** Of the process that runs for a stdio connection, or of how the last one ended. */
  async diagnostics(connectionId: string): Promise<ProcessDiagnostics> {
    const child = this.#children.get(connectionId);
    if (child) return child.process.diagnostics();
    return { processRunning: false, ...this.#restarts.lastEnd(connectionId) };
  }

  /** For a connection that is gone for good: its process is ended, its working folder removed. */
  async forget(connectionId: string): Promise<void> {
    await this.#turns.get(connectionId)?.catch(() => {});
    await closeFully(this.#children.get(connectionId));
    this.#restarts.forget(connectionId);
    await this.#folders.remove(connectionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    clearInterval(this.#watch);
    await Promise.allSettled(this.#turns.values());
    await Promise.all([...this.#children.values()].map(closeFully));
  }

  async #spawnInTurn(order: SpawnOrder, signal: AbortSignal | undefined): Promise<SpawnedServer> {
    this.#requireAllowed(order);
    requireNotAborted(signal);
    await closeFully(this.#children.get(order.id));
    const command = JSON.stringify(order.endpoint);
    this.#restarts.require(order.id, command, performance.now());
    this.#requireRoom();
    this.#starting.add(order.id);
    try {
      const child = await this.#start(order, command);
      if (!signal?.aborted && !this.#isDisposed) return describe(child);
      await closeFully(child);
      requireNotAborted(signal);
      throw stopping();
    } finally {
      this.#starting.delete(order.id);
    }
  }

  #requireAllowed({ approval, endpoint }: SpawnOrder): void {
    if (this.#isDisposed) throw stopping();
    this.#options.allowList.resolve(endpoint);
    checkGivenVariables(endpoint.env);
    if (approval) return;
    throw new Fault('forbidden', 'nobody who may run commands has approved this one yet', {
      reason: 'approval_required',
    });
  }

  #requireRoom(): void {
    const { childrenMax } = this.#options;
    const ids = new Set([...this.#children.keys(), ...this.#starting]);
    if (ids.size < childrenMax) return;
    throw new Fault('unavailable', `this registry runs at most ${childrenMax} processes at once`, {
      reason: 'too_many_processes',
      detail: { childrenMax },
      retryAfter: 10,
    });
  }

  async #start({ id, endpoint }: SpawnOrder, command: string): Promise<Child> {
    const { allowList, environment, launcher, frameMaxBytes, log } = this.#options;
    const startedAtMs = performance.now();
    const note = (lastEnd: string, written?: RunningProcess) => ({
      command,
      lastEnd,
      stderr: written?.errorText ?? '',
      stdout: written?.strayText ?? '',
      nowMs: performance.now(),
      livedMs: performance.now() - startedAtMs,
    });
    const given = endpoint.env ?? {};
    const process = await RunningProcess.start({
      program: allowList.resolve(endpoint),
      args: endpoint.args,
      environment: buildEnvironment(environment, given),
      given,
      folder: await this.#folders.open(id),
      launcher,
    }).catch((error: unknown) => {
      this.#restarts.noteCrash(id, note(Fault.from(error).message));
      throw error;
    });
    const transport = new ChildTransport(process, { frameMaxBytes, log });
    const gone = transport.ended.then(async (fault) => {
      if (fault) this.#restarts.noteCrash(id, note(fault.message, process));
      else this.#restarts.noteClosed(id, note('it was ended by the registry', process));
      return this.#drop(id);
    });
    const child = { process, transport, gone };
    this.#children.set(id, child);
    this.#watch ??= this.#startWatch();
    await this.#folders.note(id, process.name, process.mark).catch((error: unknown) => {
      log.warn({ err: error }, 'a process could not be written down');
    });
    return child;
  }

  async #drop(id: string): Promise<void> {
    this.#children.delete(id);
    if (this.#children.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    await this.#folders.removeNote(id).catch(() => {});
  }

  #startWatch(): NodeJS.Timeout {
    let isWatching = false;
    let notBeforeMs = 0;
    const look = async () => {
      const beganMs = performance.now();
      if (isWatching || beganMs < notBeforeMs) return;
      isWatching = true;
      await this.#watchTrees().catch((error: unknown) => {
        this.#options.log.warn({ err: error }, 'the use of processes could not be read');
      });
      isWatching = false;
      // On a host with very many processes a look takes long: a twentieth of the time is enough.
      notBeforeMs = performance.now() + 20 * (performance.now() - beganMs);
    };
    return setInterval(() => void look(), this.#options.watchIntervalMs ?? 2000).unref();
  }

  async #watchTrees(): Promise<void> {
    const { memoryMaxBytes, processesMax } = this.#options;
    const table = await readProcessTable();
    for (const { process, transport } of this.#children.values()) {
      const { memoryBytes, processes } = await process.measure(table);
      if (memoryBytes > memoryMaxBytes) {
        transport.fail(exceeded('memory', { memoryBytes, memoryMaxBytes }));
      } else if (processes > processesMax) {
        transport.fail(exceeded('processes', { processes, processesMax }));
      }
    }
  }
}

function exceeded(what: 'memory' | 'processes', detail: Readonly<Record<string, number>>): Fault {
  const message = `the server's process used too much (${what}) and was ended`;
  return new Fault('unavailable', message, { reason: `${what}_exceeded`, detail });
}

async function closeFully(child: Child | undefined): Promise<void> {
  await child?.transport.close();
  await child?.gone;
}

function requireNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw Fault.from(signal.reason);
}

function describe({ process, transport }: Child): SpawnedServer {
  return {
    transport,
    pid: process.name.pid,
    ended: transport.ended,
    diagnostics: async () => process.diagnostics(),
  };
}

function stopping(): Fault {
  return new Fault('unavailable', 'the registry is stopping', { reason: 'stopping' });
}
