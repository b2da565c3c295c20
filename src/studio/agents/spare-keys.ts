import type { Log } from '../../kit/log.ts';
import type { AgentSql } from './agent-store.ts';
import type { AgentKey, Credentials } from './credentials.ts';
import {
  deleteSpareKey,
  insertSpareKey,
  readLeftSpareKeys,
  renewSpareKeys,
} from './spare-key-store.ts';

export interface SpareKeysOptions {
  readonly sql: AgentSql;
  readonly log: Log;
  readonly credentials: Credentials;
  readonly replicaId: string;
  /** No other process has keys on this database. */
  readonly isAlone: boolean;
}

/** Longer than a machine is busy, so that none is revoked that is still to be handed out. */
const leaseMs = 600_000;

/** The keys of warm programs, noted so that each ends: with its agent, its program or its replica. */
export class SpareKeys {
  readonly #options: SpareKeysOptions;

  constructor(options: SpareKeysOptions) {
    this.#options = options;
  }

  /** A key of the agent that a warm program becomes. */
  async create(agentId: string): Promise<AgentKey> {
    const { sql, credentials } = this.#options;
    const key = await credentials.create(agentId, {});
    try {
      await insertSpareKey(sql, key.keyId, this.#lease());
    } catch (error) {
      await this.revoke(key.keyId);
      throw error;
    }
    return key;
  }

  /** Ends one that no agent got. Never rejects: what is left is found later. */
  async revoke(keyId: string): Promise<void> {
    const { sql, credentials, log } = this.#options;
    try {
      await credentials.revoke(keyId);
      await deleteSpareKey(sql, keyId);
    } catch (err) {
      log.warn({ err, keyId }, 'the key of a warm program is left for now');
    }
  }

  /** Prolongs its own; answers those that are still good. */
  renew(): Promise<ReadonlySet<string>> {
    return renewSpareKeys(this.#options.sql, this.#lease());
  }

  /** Revokes those that dead replicas left. */
  async revokeLeft(): Promise<void> {
    const { sql, replicaId, isAlone } = this.#options;
    const left = await readLeftSpareKeys(sql, { replicaId, isAlone, now: new Date() });
    await Promise.all(left.map((keyId) => this.revoke(keyId)));
  }

  #lease() {
    return { replicaId: this.#options.replicaId, until: new Date(Date.now() + leaseMs) };
  }
}
