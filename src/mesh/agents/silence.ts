import type { AgentRecord } from './agent-record.ts';
import type { AgentState, Removal, Silence } from './agent-row.ts';
import {
  deleteFormerEpochs,
  deleteOffline,
  noteSetBack,
  noteSilence,
  type AgentSql,
} from './agent-store.ts';
import { despiteDeadlock } from './deadlock.ts';
import type { Directory } from './directory.ts';

/** So many missed beats make an agent suspect. */
const suspectBeats = 3;
/** So many make it offline. */
const offlineBeats = 6;
const silencesMax = 1_000;

export interface SilenceWatchOptions {
  readonly sql: AgentSql;
  readonly directory: Directory;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long an offline agent is kept, and the epoch of one that is gone. */
  readonly keptOfflineMs: number;
  /** Told what silence has changed, and a clock that was set back. */
  readonly onChanged: (states: readonly AgentState[]) => void;
  readonly onRemoved: (removals: readonly Removal[]) => void;
}

const removalMs = 600_000;
/** By which clocks of replicas may differ. */
const clockSkewMs = 60_000;

/**
 * Finds agents that are silent: suspect after three missed beats, offline after six. Memory says whom
 * to look at, the table decides, so that of several replicas one tells. Where the clock was ahead and
 * is set back, nobody waits for the time that it showed: whoever was heard of then was so just now.
 */
export class SilenceWatch implements AsyncDisposable {
  readonly #options: SilenceWatchOptions;
  /** While nobody listened nobody was silent. */
  #startedAtMs: number;
  /** By the clock; before the first look it may have been anything. */
  #checkedAtMs = Number.POSITIVE_INFINITY;
  #checking: Promise<void> | undefined;
  #removedAtMs: number;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#startedAtMs = options.now();
    this.#removedAtMs = this.#startedAtMs;
  }

  /** Looks once; who asks meanwhile gets the same look. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#checking?.catch(() => {});
  }

  async #check(): Promise<void> {
    const { sql, directory, now, onChanged } = this.#options;
    const nowMs = now();
    if (nowMs < this.#checkedAtMs) await this.#setBack(nowMs);
    this.#checkedAtMs = nowMs;
    const silences: Silence[] = [];
    for (const agent of directory.all()) {
      const silence = this.#judge(agent, nowMs);
      if (silence) silences.push(silence);
    }
    for (let at = 0; at < silences.length; at += silencesMax) {
      const some = silences.slice(at, at + silencesMax);
      onChanged(await despiteDeadlock(() => noteSilence(sql, some, nowMs)));
    }
    directory.prune();
    await this.#removeOld(nowMs);
  }

  async #setBack(nowMs: number): Promise<void> {
    const { sql, onChanged } = this.#options;
    this.#startedAtMs = Math.min(this.#startedAtMs, nowMs);
    this.#removedAtMs = Math.min(this.#removedAtMs, nowMs);
    const beyondMs = nowMs + clockSkewMs;
    onChanged(await despiteDeadlock(() => noteSetBack(sql, { nowMs, beyondMs })));
  }

  #judge(agent: AgentRecord, nowMs: number): Silence | undefined {
    if (agent.status === 'offline') return undefined;
    const { agentId, lastSeenMs } = agent;
    const silentMs = nowMs - Math.max(lastSeenMs, this.#startedAtMs);
    const missed = Math.floor(silentMs / (agent.heartbeatInterval * 1000));
    if (missed >= offlineBeats) return { agentId, lastSeenMs, status: 'offline' };
    const isNewlySuspect = missed >= suspectBeats && agent.status !== 'suspect';
    return isNewlySuspect ? { agentId, lastSeenMs, status: 'suspect' } : undefined;
  }

  async #removeOld(nowMs: number): Promise<void> {
    if (nowMs - this.#removedAtMs < removalMs) return;
    this.#removedAtMs = nowMs;
    const { sql, keptOfflineMs, onRemoved } = this.#options;
    const beforeMs = nowMs - keptOfflineMs;
    await deleteFormerEpochs(sql, beforeMs);
    const removals = await deleteOffline(sql, { beforeMs, nowMs });
    if (removals.length > 0) onRemoved(removals);
  }
}
