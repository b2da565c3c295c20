import type { Agent, AgentStatus, RuntimeName } from './agent.ts';
import type { AgentRecord, WantedEnd } from './agent-record.ts';

/** An agent as the database gives it. */
export interface AgentRow {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly template: string;
  readonly status: AgentStatus;
  readonly capabilities: string[];
  readonly runtime: RuntimeName;
  readonly workspace_id: string | null;
  readonly owner_id: string;
  readonly cpu: number;
  readonly memory: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly expires_at: Date | null;
  readonly restarts: number;
  /** JSON. */
  readonly failure: string | null;
  readonly revision: number;
  readonly wanted: WantedEnd | null;
  readonly replica: string | null;
  readonly reference: string | null;
  readonly key_id: string | null;
  /** JSON. */
  readonly restarted_at: string;
  readonly use_cpu: number | null;
  readonly use_memory: number | null;
}

/** Of a row `a`. */
export const agentColumns = `a.id, a.name, a.type, a.template, a.status, a.capabilities, a.runtime,
  a.workspace_id, a.owner_id, a.cpu, a.memory, a.created_at, a.started_at, a.ended_at, a.expires_at,
  a.restarts, a.failure, a.revision, a.wanted, a.replica, a.reference, a.key_id, a.restarted_at,
  a.use_cpu, a.use_memory`;

/** Whether the agent of a row `a` has not ended. */
export const isLive = `a.status not in ('stopped', 'expired', 'failed')`;

export function toRecord(row: AgentRow): AgentRecord {
  return {
    agent: toAgent(row),
    revision: row.revision,
    ...(row.wanted === null ? {} : { wanted: row.wanted }),
    ...(row.replica === null ? {} : { replica: row.replica }),
    ...(row.reference === null ? {} : { reference: row.reference }),
    ...(row.key_id === null ? {} : { keyId: row.key_id }),
    // Written by this store.
    restartedAtMs: JSON.parse(row.restarted_at) as number[],
    ...(row.use_cpu === null || row.use_memory === null
      ? {}
      : { use: { cpu: row.use_cpu, memory: row.use_memory } }),
  };
}

function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    template: row.template,
    status: row.status,
    capabilities: row.capabilities,
    runtime: row.runtime,
    ...(row.workspace_id === null ? {} : { workspaceId: row.workspace_id }),
    ownerId: row.owner_id,
    resources: { cpu: row.cpu, memory: row.memory },
    createdAtMs: row.created_at.getTime(),
    ...(row.started_at === null ? {} : { startedAtMs: row.started_at.getTime() }),
    ...(row.ended_at === null ? {} : { endedAtMs: row.ended_at.getTime() }),
    ...(row.expires_at === null ? {} : { expiresAtMs: row.expires_at.getTime() }),
    restarts: row.restarts,
    // Written by this store.
    ...(row.failure === null ? {} : { failure: JSON.parse(row.failure) as Agent['failure'] & {} }),
  };
}
