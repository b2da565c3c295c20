import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import type { Log } from '../../kit/log.ts';
import { permissionsOf, roles } from '../workspaces/roles.ts';
import type { Workspaces } from '../workspaces/workspace.ts';
import type { Agent, AgentHealth, Agents, RuntimeName, SpawnOptions } from './agent.ts';
import type { AgentDirectory } from './agent-directory.ts';
import { isFinal, type AgentRecord, type WantedEnd } from './agent-record.ts';
import {
  deleteAgent,
  insertAgent,
  listAgents,
  readAgent,
  readWorkspaceAgents,
  wantEnd,
  type AgentSql,
  type Replica,
} from './agent-store.ts';
import type { AgentLogs } from './agent-logs.ts';
import { agentIdOf, type AgentKey, type Credentials } from './credentials.ts';
import type { Presence } from './presence.ts';
import { runtimeUnavailable } from './program-start.ts';
import { drawUp, type SpawnLimits, type Template } from './spawn-request.ts';
import type { Supervisor } from './supervisor.ts';
import type { WarmPool } from './warm-pool.ts';
import type { RunningProgram, Runtime } from '../runtimes/runtime.ts';

export interface ManagedAgentsOptions {
  readonly sql: AgentSql;
  readonly log: Log;
  readonly logs: AgentLogs;
  readonly directory: AgentDirectory;
  readonly supervisor: Supervisor;
  readonly credentials: Credentials;
  readonly presence: Presence;
  readonly workspaces: Pick<Workspaces, 'require'>;
  readonly runtimes: ReadonlyMap<RuntimeName, Runtime>;
  readonly warm?: Pick<WarmPool, 'take'> | undefined;
  readonly templates: readonly Template[];
  readonly limits: SpawnLimits;
  readonly replica: Replica;
  /** How long who stops an agent waits for its end. */
  readonly endWaitMs: number;
}

/** A program that is to be told who it is, with the key that it was given already. */
interface Waiting {
  readonly program: Promise<RunningProgram | undefined>;
  readonly key: AgentKey | undefined;
}

type Permission = Parameters<Agents['require']>[2];

const viewers = roles.filter((role) => permissionsOf[role].includes('agents:view'));
const administration = 'studio:admin';

/** The agents: who may do what with them, and what is asked of the supervisor. */
export class ManagedAgents implements Agents {
  readonly #options: ManagedAgentsOptions;
  /** One after the other, so that each counts the one before. */
  #inserting: Promise<unknown> = Promise.resolve();

  constructor(options: ManagedAgentsOptions) {
    this.#options = options;
  }

  async spawn(identity: Identity, options: SpawnOptions): Promise<Agent> {
    const { templates, limits, workspaces, warm } = this.#options;
    const drawn = drawUp(options, { templates, limits, ownerId: identity.subject });
    const { workspaceId } = drawn;
    if (workspaceId !== undefined) {
      await workspaces.require(identity, workspaceId, 'agents:deploy');
    }
    await this.#requireUsable(drawn.runtime);
    const ready = drawn.runtime === 'local' ? warm?.take(drawn.resources) : undefined;
    const agent: Agent = { ...drawn, id: ready?.agentId ?? newId('agt') };
    const program = ready ? Promise.resolve(ready.program) : this.#boot(agent);
    try {
      return await this.#begin(agent, { program, key: ready?.key });
    } catch (error) {
      await (await program)?.stop(0);
      throw error;
    }
  }

  async list(
    identity: Identity,
    query: Parameters<Agents['list']>[1],
  ): Promise<{ readonly agents: readonly Agent[]; readonly total: number }> {
    const { sql } = this.#options;
    const seenBy = mayAll(identity) ? undefined : { subject: identity.subject, roles: viewers };
    return listAgents(sql, { ...query, seenBy });
  }

  async require(identity: Identity, id: string, permission: Permission): Promise<Agent> {
    const agent = await this.find(id);
    if (!agent) throw agentNotFound(id);
    if (mayAll(identity)) return agent;
    const { workspaceId, ownerId } = agent;
    if (workspaceId === undefined) {
      if (ownerId !== identity.subject) throw agentNotFound(id);
      return agent;
    }
    await this.#requireInWorkspace(identity, agent, { workspaceId, permission });
    return agent;
  }

  async find(id: string): Promise<Agent | undefined> {
    const { directory, sql } = this.#options;
    return directory.get(id)?.agent ?? (await readAgent(sql, id))?.agent;
  }

  running(): readonly Agent[] {
    return [...this.#options.directory.live()]
      .map(({ agent }) => agent)
      .filter(({ status }) => status === 'running');
  }

  async stop(identity: Identity, id: string): Promise<Agent> {
    const agent = await this.require(identity, id, 'deploy');
    await this.#end(agent, 'stopped');
    return (await this.find(id)) ?? agent;
  }

  async remove(identity: Identity, id: string): Promise<void> {
    await this.#remove(await this.require(identity, id, 'configure'));
  }

  async health(identity: Identity, id: string): Promise<AgentHealth> {
    const agent = await this.require(identity, id, 'view');
    const { supervisor, presence, sql } = this.#options;
    if (isFinal(agent)) return { agent };
    const [use, lastHeartbeatMs] = await Promise.all([
      supervisor.use(id) ?? readAgent(sql, id).then((record) => record?.use),
      presence.lastHeartbeatMs(id),
    ]);
    return {
      agent,
      ...(use ? { use } : {}),
      ...(lastHeartbeatMs === undefined ? {} : { lastHeartbeatMs }),
    };
  }

  async removeWorkspace(workspaceId: string): Promise<void> {
    const records = await readWorkspaceAgents(this.#options.sql, workspaceId);
    await Promise.all(records.map(({ agent }) => this.#remove(agent)));
  }

  workspaceOf(subject: string): string | undefined {
    const id = agentIdOf(subject);
    return id === undefined ? undefined : this.#options.directory.get(id)?.agent.workspaceId;
  }

  listen(listener: (agent: Agent) => void): () => void {
    return this.#options.directory.listen(({ agent }) => listener(agent));
  }

  async #requireInWorkspace(
    identity: Identity,
    { id }: Agent,
    asked: { readonly workspaceId: string; readonly permission: Permission },
  ): Promise<void> {
    const { workspaces } = this.#options;
    const { workspaceId, permission } = asked;
    try {
      await workspaces.require(identity, workspaceId, 'agents:view');
    } catch (error) {
      // Whether there is an agent is for those who may see it. Not for who spawned it and has left.
      const isRefused = error instanceof Fault && ['not_found', 'forbidden'].includes(error.code);
      throw isRefused ? agentNotFound(id) : error;
    }
    await workspaces.require(identity, workspaceId, `agents:${permission}`);
  }

  async #requireUsable(name: RuntimeName): Promise<void> {
    const runtime = this.#options.runtimes.get(name);
    const missing = runtime ? await runtime.missing() : 'it is not part of this studio';
    if (missing !== undefined) throw runtimeUnavailable(name, missing);
  }

  /**
   * Starts a local program while its key is made; it waits for both, and ends when nobody tells it who
   * it is. Never rejects: why one does not start is found, and told, when it is tried again.
   */
  async #boot({ id: agentId, runtime, resources, ownerId }: Agent) {
    const { runtimes, directory, limits } = this.#options;
    const live = [...directory.live()];
    const own = live.filter(({ agent }) => agent.ownerId === ownerId);
    const isFull = live.length >= limits.agentsMax || own.length >= limits.ownerAgentsMax;
    if (runtime !== 'local' || isFull) return undefined;
    return runtimes
      .get(runtime)
      ?.start({ agentId, resources })
      .catch(() => undefined);
  }

  /** Its key first, so that its row names it: nothing is left that could not be revoked. */
  async #begin(agent: Agent, { program, key: spare }: Waiting): Promise<Agent> {
    const { credentials, logs, supervisor } = this.#options;
    const key = spare ?? (await credentials.create(agent.id, { endsAtMs: agent.expiresAtMs }));
    await this.#insert(agent, key);
    logs.begin(agent.id, 0);
    const record: AgentRecord = { agent, revision: 1, keyId: key.keyId, restartedAtMs: [] };
    return supervisor.run(record, { kind: 'new', key, program }).begun;
  }

  async #insert(agent: Agent, { keyId }: AgentKey): Promise<void> {
    const { sql, replica, limits, supervisor, credentials, log } = this.#options;
    const { agentsMax, ownerAgentsMax } = limits;
    const leaseUntil = supervisor.leaseUntil();
    try {
      const by = { replica, leaseUntil, agentsMax, ownerAgentsMax };
      const inserting = this.#inserting.then(() => insertAgent(sql, { agent, keyId }, by));
      this.#inserting = inserting.catch(() => {});
      if (!(await inserting)) throw tooMany(limits);
    } catch (error) {
      await credentials.revoke(keyId).catch((err: unknown) => {
        log.warn({ err, keyId }, 'the key of an agent that was not spawned is left');
      });
      throw error;
    }
  }

  /** Asks whoever runs it, and waits a while for the end. */
  async #end({ id }: Agent, wanted: WantedEnd): Promise<void> {
    const { sql, directory, supervisor, endWaitMs } = this.#options;
    const asked = await wantEnd(sql, id, wanted);
    if (!asked) return;
    const ended = directory.untilEnded(id, endWaitMs);
    directory.tell(asked);
    await supervisor.wake();
    await ended;
  }

  async #remove(agent: Agent): Promise<void> {
    const { sql, directory } = this.#options;
    await this.#end(agent, 'removed');
    // One that is still about to end is removed by whoever runs it.
    const left = await readAgent(sql, agent.id);
    if (!left || !isFinal(left.agent)) return;
    await deleteAgent(sql, agent.id);
    directory.tellRemoved(agent.id);
  }
}

/** Fault `not_found`; also of what the caller may not see. */
export function agentNotFound(agentId: string): Fault {
  return new Fault('not_found', 'there is no such agent', {
    reason: 'agent_not_found',
    detail: { agentId },
  });
}

function mayAll({ permissions }: Identity): boolean {
  return allows(permissions, administration);
}

function tooMany({ agentsMax, ownerAgentsMax }: SpawnLimits): Fault {
  const message = `at most ${ownerAgentsMax} agents of one owner and ${agentsMax} in all run at a time`;
  return new Fault('exhausted', message, {
    reason: 'too_many_agents',
    detail: { agentsMax, ownerAgentsMax },
  });
}
