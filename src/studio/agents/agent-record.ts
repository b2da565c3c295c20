import type { Agent, AgentFailure, AgentStatus, AgentUse } from './agent.ts';

/** How an agent is to end, once somebody asked for it. */
export type WantedEnd = 'stopped' | 'expired' | 'removed';

/** What replicas tell one another of an agent. */
export interface AgentState {
  readonly agent: Agent;
  /** Of two states the one with the higher revision holds. */
  readonly revision: number;
  readonly wanted?: WantedEnd;
}

/** A row: the state, and what only who runs the agent needs. */
export interface AgentRecord extends AgentState {
  /** The process that runs it. */
  readonly replica?: string;
  /** Finds its program again. */
  readonly reference?: string | undefined;
  readonly keyId?: string | undefined;
  /** When it was started again lately. */
  readonly restartedAtMs: readonly number[];
  /** As of the last renewal of the lease. */
  readonly use?: AgentUse;
}

/** What the agent's own run changes; undefined removes. */
export interface AgentChange {
  readonly status?: AgentStatus;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly failure?: AgentFailure;
  readonly restarts?: number;
  readonly reference?: string | undefined;
  readonly keyId?: string | undefined;
  readonly restartedAtMs?: readonly number[];
}

const finalStatuses: ReadonlySet<AgentStatus> = new Set(['stopped', 'expired', 'failed']);

/** Whether an agent has ended for good. */
export function isFinal({ status }: Pick<Agent, 'status'>): boolean {
  return finalStatuses.has(status);
}
