import type { Log } from '../log.ts';
import type { Connections } from './connections.ts';

const intervalMsDefault = 15 * 60_000;

const listTables = `
  select format('%I.%I', schemaname, tablename) as name
  from pg_tables where schemaname not in ('pg_catalog', 'information_schema')
  order by 1`;

/**
 * Does for PGlite what PostgreSQL's autovacuum does by itself: gives the space of dead rows back and
 * keeps the planner's statistics true. One table after the other, so that statements get in between.
 */
export class Upkeep {
  readonly #connections: Connections;
  readonly #log: Log | undefined;
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(connections: Connections, log: Log | undefined, intervalMs = intervalMsDefault) {
    this.#connections = connections;
    this.#log = log;
    this.#timer = setInterval(() => this.#start(), intervalMs).unref();
  }

  /** Stops after the table at hand; resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#running = this.#runAfter(this.#running);
  }

  async #runAfter(before: Promise<void>): Promise<void> {
    await before;
    try {
      await this.#vacuumAll();
    } catch (error) {
      this.#log?.warn({ err: error }, 'the upkeep of the database failed');
    }
  }

  async #vacuumAll(): Promise<void> {
    const { rows } = await this.#connections.run<{ name: string }>(listTables, []);
    for (const { name } of rows) {
      if (this.#isStopped) return;
      await this.#connections.run(`vacuum (analyze) ${name}`, []);
    }
  }
}
