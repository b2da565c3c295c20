import type { Log } from '../log.ts';
import type { Connections } from './connections.ts';

const intervalMsDefault = 10_000;

/** A tenth of the server's default: the one session waits while a table is sampled. */
const sampling = 'set default_statistics_target = 10';

/** A parameter of autovacuum as a table's storage parameters have it, else the server's default. */
function parameter(name: string, fallback: number): string {
  return `case when c.reloptions is null then ${fallback}::float8 else coalesce((
    select o.option_value::float8 from pg_options_to_table(c.reloptions) as o
    where o.option_name = 'autovacuum_${name}'), ${fallback}) end`;
}

/** Whether so many changes are more than a threshold and a share of the table's rows. */
function exceeds(changes: string, prefix: string, [threshold, share]: readonly [number, number]) {
  return `${changes} > ${parameter(`${prefix}_threshold`, threshold)}
    + ${parameter(`${prefix}_scale_factor`, share)} * greatest(c.reltuples, 0)`;
}

/** Rows that were never looked at: the counts of changes begin anew when the process does. */
const isUnknown = '(c.reltuples < 0 and pg_relation_size(c.oid) > 0)';

// The conditions and defaults of the autovacuum daemon (PostgreSQL's manual, section "Routine
// Vacuuming"), the one against the wraparound of transaction ids among them.
const listDueTables = `
  select name, needs_vacuum, needs_analysis from (
    select format('%I.%I', n.nspname, c.relname) as name,
      ${exceeds('pg_stat_get_dead_tuples(c.oid)', 'vacuum', [50, 0.2])}
        or ${exceeds('pg_stat_get_ins_since_vacuum(c.oid)', 'vacuum_insert', [1000, 0.2])}
        or ${isUnknown} or age(c.relfrozenxid) > 200000000 or mxid_age(c.relminmxid) > 400000000
        as needs_vacuum,
      c.oid <> 'pg_catalog.pg_statistic'::regclass and (
        ${exceeds('pg_stat_get_mod_since_analyze(c.oid)', 'analyze', [50, 0.1])} or ${isUnknown}
      ) as needs_analysis
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r'
  ) as found where needs_vacuum or needs_analysis order by name`;

interface DueTable {
  readonly name: string;
  readonly needs_vacuum: boolean;
  readonly needs_analysis: boolean;
}

/**
 * Does for PGlite what PostgreSQL's autovacuum does by itself: gives the space of dead rows back and
 * keeps the planner's statistics true, of the tables that have changed enough. One table after the
 * other, so that statements get in between.
 */
export class Upkeep {
  readonly #connections: Connections;
  readonly #log: Log | undefined;
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;
  #running: Promise<void> | undefined;

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

  /** What takes longer than the interval is not begun twice. */
  #start(): void {
    this.#running ??= this.#keepUp().finally(() => {
      this.#running = undefined;
    });
  }

  async #keepUp(): Promise<void> {
    try {
      const { rows } = await this.#connections.run<DueTable>(listDueTables, []);
      if (rows.some((table) => table.needs_analysis)) await this.#connections.run(sampling, []);
      for (const table of rows) {
        if (this.#isStopped) return;
        await this.#workOn(table);
      }
    } catch (error) {
      this.#log?.warn({ err: error }, 'the upkeep of the database failed');
    }
  }

  /** One that fails, or was dropped before its turn came, keeps none from the others. */
  async #workOn(table: DueTable): Promise<void> {
    try {
      await this.#connections.run(statementFor(table), []);
    } catch (error) {
      this.#log?.warn({ err: error, table: table.name }, 'the upkeep of a table failed');
    }
  }
}

function statementFor({
  name,
  needs_vacuum: needsVacuum,
  needs_analysis: needsAnalysis,
}: DueTable): string {
  if (!needsVacuum) return `analyze ${name}`;
  return needsAnalysis ? `vacuum (analyze) ${name}` : `vacuum ${name}`;
}
