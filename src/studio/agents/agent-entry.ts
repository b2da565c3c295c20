import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Agent } from './agent.ts';
import type { AgentDirectory } from './agent-directory.ts';
import type { AgentChange, AgentRecord } from './agent-record.ts';
import { deleteAgent, saveAgent, type AgentSql } from './agent-store.ts';
import type { AgentKey, Credentials } from './credentials.ts';

export interface EntryOptions {
  readonly sql: AgentSql;
  readonly log: Log;
  readonly directory: AgentDirectory;
  readonly credentials: Credentials;
  readonly replicaId: string;
}

const savesMax = 30;
const savePauseMs = 1_000;

/** Another replica runs the agent by now, or it is gone. */
export class NotOurs extends Error {}

/** The row of an agent that this replica runs, and the key that the row names. */
export class AgentEntry {
  readonly #options: EntryOptions;
  #record: AgentRecord;
  /** Settles when nothing is being stored any more; never rejects. */
  #saving: Promise<void> = Promise.resolve();

  constructor(record: AgentRecord, options: EntryOptions) {
    this.#record = record;
    this.#options = options;
  }

  get record(): AgentRecord {
    return this.#record;
  }

  /**
   * Stored before it is told, one change after the other: each names the state before it. Throws NotOurs
   * when it is no longer this replica's to say; a database that is away is waited for.
   */
  save(change: AgentChange): Promise<void> {
    const saving = this.#saving.then(() => this.#save(change));
    this.#saving = saving.catch(() => {});
    return saving;
  }

  async #save(change: AgentChange): Promise<void> {
    const { sql, replicaId, directory } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const before = this.#record;
        const saved = await saveAgent(sql, changed(before, change), replicaId);
        if (!saved) throw new NotOurs();
        this.#record = saved;
        if (isNews(before.agent, saved.agent)) directory.tell(saved);
        return;
      } catch (error) {
        const isPassing = error instanceof Fault && error.code === 'unavailable';
        if (!isPassing || attempt >= savesMax) throw error;
        await sleep(savePauseMs);
      }
    }
  }

  /** Forgets the agent with its log. */
  async remove(): Promise<void> {
    const { sql, directory } = this.#options;
    const { id } = this.#record.agent;
    await deleteAgent(sql, id);
    directory.tellRemoved(id);
  }

  /** The key before it, if any, ends: what still had it can do no more. */
  async changeKey({ keyId }: AgentKey): Promise<void> {
    const { keyId: before } = this.#record;
    await this.save({ keyId });
    if (before !== undefined) await this.#revoke(before);
  }

  /** Undefined when nothing is left to revoke; else the key that must be tried again. */
  async endKey(): Promise<string | undefined> {
    const { keyId } = this.#record;
    return keyId === undefined || (await this.#revoke(keyId)) ? undefined : keyId;
  }

  async #revoke(keyId: string): Promise<boolean> {
    const { credentials, log } = this.#options;
    try {
      await credentials.revoke(keyId);
      return true;
    } catch (err) {
      const agentId = this.#record.agent.id;
      log.warn({ err, agentId, keyId }, 'the key of an agent could not be revoked');
      return false;
    }
  }
}

function changed(record: AgentRecord, change: AgentChange): AgentRecord {
  const { reference, keyId, restartedAtMs, ...ofAgent } = change;
  return {
    ...record,
    agent: { ...record.agent, ...ofAgent },
    ...('reference' in change ? { reference } : {}),
    ...('keyId' in change ? { keyId } : {}),
    ...(restartedAtMs ? { restartedAtMs } : {}),
  };
}

/** What nobody but its replica needs to know is no news. */
function isNews(before: Agent, after: Agent): boolean {
  return (
    before.status !== after.status ||
    before.startedAtMs !== after.startedAtMs ||
    before.restarts !== after.restarts ||
    before.failure?.atMs !== after.failure?.atMs
  );
}
