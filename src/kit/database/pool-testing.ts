import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../errors.ts';
import type { Connections, ReservedConnection, ReserveOptions } from './connections.ts';
import { databaseOver, type Database } from './database.ts';
import { openPglite } from './pglite.ts';

const idleMax = 2;

const clearAll = `
  select pg_advisory_unlock_all();
  do $$
  declare name text;
  begin
    for name in
      select nspname from pg_namespace
      where nspname not like 'pg\\_%' and nspname <> 'information_schema'
    loop
      execute format('drop schema %I cascade', name);
    end loop;
    create schema public;
  end $$;
  reset all`;

/**
 * Lends empty databases to one test file after the other, for opening one takes a second. Closing a lent
 * one empties it and gives it back; whatever still asks it is refused as by one that is closed.
 */
export class TestPool {
  readonly #idle: Connections[] = [];

  async lend(): Promise<Database> {
    const connections = this.#idle.pop() ?? (await openTemporary());
    return databaseOver(new LentConnections(connections, () => this.#takeBack(connections)));
  }

  async #takeBack(connections: Connections): Promise<void> {
    const isClean = this.#idle.length < idleMax && (await clear(connections));
    if (isClean) this.#idle.push(connections);
    else await connections[Symbol.asyncDispose]();
  }
}

async function openTemporary(): Promise<Connections> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-database-'));
  const close = () => rm(folder, { recursive: true, force: true });
  return openPglite(folder, { log: undefined, close });
}

async function clear(connections: Connections): Promise<boolean> {
  try {
    // Waits for the end of transactions.
    const alone = await connections.reserve();
    await alone.runScript(clearAll).finally(() => alone.release());
    return true;
  } catch {
    return false;
  }
}

class LentConnections implements Connections {
  readonly dialect = 'pglite';
  readonly #connections: Connections;
  readonly #giveBack: () => Promise<void>;
  #given: Promise<void> | undefined;

  constructor(connections: Connections, giveBack: () => Promise<void>) {
    this.#connections = connections;
    this.#giveBack = giveBack;
  }

  async run<Row>(text: string, parameters: readonly unknown[]) {
    this.#refuseWhenClosed();
    return this.#connections.run<Row>(text, parameters);
  }

  async runScript(text: string): Promise<void> {
    this.#refuseWhenClosed();
    await this.#connections.runScript(text);
  }

  async reserve(options?: ReserveOptions): Promise<ReservedConnection> {
    this.#refuseWhenClosed();
    return this.#connections.reserve(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#given ??= this.#giveBack());
  }

  #refuseWhenClosed(): void {
    if (this.#given) throw new Fault('unavailable', 'the database is closed');
  }
}
