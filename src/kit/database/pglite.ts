import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';
import { ensureCluster } from './cluster.ts';
import {
  refuseBegin,
  runScriptOn,
  runStatement,
  type Connections,
  type ReservedConnection,
  type RunOptions,
  type StatementResult,
} from './connections.ts';
import { startThread } from '../entry-file.ts';
import { PgliteStream } from './pglite-stream.ts';
import type { ThreadSettings } from './pglite-thread.ts';
import { StatementNames } from './statement-names.ts';
import { valueParsers } from './sql-values.ts';
import { Turnstile } from './turnstile.ts';

/**
 * Pages lie in the memory of the machine, where one far away costs what the next one does. With the
 * default of 4 whole tables of some thousand rows are read where an index has the few rows of a batch.
 */
const sessionSettings = 'set random_page_cost = 1.1';

/** How long a statement waits for its turn behind transactions before it is refused. */
const waitMaxMs = 30_000;

/** What a small database needs: each page that is not in memory is read from its file. */
const cacheMegabytesDefault = 32;

export interface PgliteSize {
  /** Memory for pages of tables and indexes, 32 MB by default. */
  readonly cacheMegabytes?: number | undefined;
}

export interface PgliteOptions {
  readonly log: Log | undefined;
  /** Runs once, after PGlite has let go of the folder, also when opening fails. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the cluster in a folder that the caller has for itself alone. Acknowledged rows survive the
 * death of the process but not a loss of power, for PGlite never syncs its files to the disk.
 */
export async function openPglite(
  folder: string,
  options: PgliteOptions & PgliteSize,
): Promise<Connections> {
  try {
    const worker = await startPgliteThread(await ensureCluster(folder), options);
    return await connectPglite(worker, options);
  } catch (error) {
    await options.close();
    throw error;
  }
}

/** Starts the thread that owns the cluster of a folder; throws when PGlite cannot open it. */
export async function startPgliteThread(
  clusterFolder: string,
  { cacheMegabytes = cacheMegabytesDefault }: PgliteSize = {},
): Promise<Worker> {
  const settings: ThreadSettings = { clusterFolder, cacheMegabytes };
  const worker = startThread({ beside: import.meta.url, name: 'pglite-thread' }, settings);
  const exit = new AbortController();
  worker.once('exit', () => exit.abort());
  try {
    // Rejects when the thread throws or exits; its first message is that it is ready.
    await once(worker, 'message', { signal: exit.signal });
    return worker;
  } catch (cause) {
    const message = `the embedded database in ${clusterFolder} does not open; restore a copy of it`;
    throw new Fault('unavailable', message, { cause });
  }
}

/** Connects to the thread and owns it from then on. */
export async function connectPglite(worker: Worker, options: PgliteOptions): Promise<Connections> {
  const client = new Client({
    stream: () => new PgliteStream(worker),
    pipeline: true,
    types: valueParsers,
    // Said in full, for the driver would look into the environment for what is missing.
    user: 'postgres',
    database: 'postgres',
    host: 'pglite',
    port: 5432,
    ssl: false,
  });
  const connections = new PgliteConnections(client, {
    log: options.log,
    close: async () => {
      await worker.terminate();
      await options.close();
    },
  });
  await client.connect();
  await client.query(sessionSettings);
  return connections;
}

/**
 * The one session of PGlite, shared. Statements outside transactions are sent without waiting for
 * the answers before them; a transaction holds the session alone.
 */
class PgliteConnections implements Connections {
  readonly dialect = 'pglite';
  readonly #client: Client;
  readonly #close: () => Promise<void>;
  readonly #turnstile = new Turnstile(waitMaxMs);
  readonly #names = new StatementNames();
  #failure: Fault | undefined;

  constructor(client: Client, { log, close }: PgliteOptions) {
    this.#client = client;
    this.#close = close;
    client.on('error', (cause) => {
      this.#failure = new Fault('unavailable', 'the embedded database stopped', { cause });
      log?.error({ err: cause }, 'the embedded database stopped');
    });
    client.on('notice', (notice) => log?.debug({ notice: notice.message }, 'database notice'));
  }

  async run<Row>(
    text: string,
    parameters: readonly unknown[],
    options?: RunOptions,
  ): Promise<StatementResult<Row>> {
    refuseBegin(text);
    if (!this.#turnstile.isOpen) await this.#turnstile.pass();
    this.#refuseWhenStopped();
    return this.#run<Row>(text, parameters, options);
  }

  async runScript(text: string): Promise<void> {
    refuseBegin(text);
    if (!this.#turnstile.isOpen) await this.#turnstile.pass();
    this.#refuseWhenStopped();
    await runScriptOn(this.#client, text);
  }

  async reserve(): Promise<ReservedConnection> {
    await this.#turnstile.hold();
    try {
      this.#refuseWhenStopped();
    } catch (failure) {
      this.#turnstile.release();
      throw failure;
    }
    return {
      run: (text, parameters, runOptions) => this.#run(text, parameters, runOptions),
      runScript: (text) => runScriptOn(this.#client, text),
      release: () => this.#release(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failure ??= new Fault('unavailable', 'the database is closed');
    await this.#client.end();
    await this.#close();
  }

  #run<Row>(
    text: string,
    parameters: readonly unknown[],
    { isPlannedAnew = false }: RunOptions = {},
  ): Promise<StatementResult<Row>> {
    // What has a name gets a plan for any parameters before long.
    const name = isPlannedAnew ? undefined : this.#names.nameOf(text);
    return runStatement<Row>(this.#client, { text, parameters, name });
  }

  #release(): void {
    // Sent ahead of whatever is admitted next, so nobody runs in a transaction not its own.
    if (this.#client.getTransactionStatus() !== 'I') {
      void runScriptOn(this.#client, 'rollback').catch(() => {});
    }
    this.#turnstile.release();
  }

  #refuseWhenStopped(): void {
    if (this.#failure) throw this.#failure;
  }
}
