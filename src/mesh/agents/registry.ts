import type { Bus } from '../../kit/bus/bus.ts';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import type { Activity } from '../activity/activity.ts';
import type { AgentRecord } from './agent-record.ts';
import type { AgentRow, AgentState, ReportedStatus } from './agent-row.ts';
import { claimKeyProof, deleteAgent, readAgent, updatePublicKey } from './agent-store.ts';
import { Directory } from './directory.ts';
import { Discovery, type IsAttested } from './discovery.ts';
import { agentIdTaken, Enrolment } from './enrolment.ts';
import { Heartbeats } from './heartbeats.ts';
import { readRegistration, type KeyProof, type RegistrationRequest } from './registration.ts';
import { replicateAgents, type Replication, type ReplicationOptions } from './replication.ts';
import { SilenceWatch } from './silence.ts';
import { Waits } from './waits.ts';

/** Whether the proof shows that whoever made it holds the key, for this agent. */
export type CheckKeyProof = (
  agentId: string,
  publicKey: string,
  proof: KeyProof,
) => boolean | Promise<boolean>;

export interface RegistryOptions {
  readonly sql: ReplicationOptions['sql'];
  readonly bus: Bus;
  readonly egress: Pick<Egress, 'checkUrl' | 'fetch'>;
  readonly activity: Activity;
  readonly log: Log;
  readonly checkKeyProof: CheckKeyProof;
  readonly isAttested: IsAttested;
  /** Seconds, for agents that wish for no other; 30 when absent. */
  readonly heartbeatInterval?: number | undefined;
  /** More than this many are refused; 100,000 when absent. */
  readonly agentsMax?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

/** Who changes an agent. */
export interface AgentOwner {
  /** The token's subject. */
  readonly subject: string;
  /** May remove agents of others. */
  readonly isAdministrator?: boolean | undefined;
}

export interface BeatReport {
  readonly load?: number | undefined;
  readonly status?: ReportedStatus | undefined;
  /** Of the registration that the agent thinks holds. */
  readonly epoch?: number | undefined;
}

const checkMs = 1_000;
const keptOfflineMs = 7 * 24 * 3_600_000;

/** The agents of the mesh: registered, found, alive or not. The table is the truth. */
export class AgentRegistry implements AsyncDisposable {
  readonly directory: Directory;
  readonly discovery: Discovery;
  readonly #options: RegistryOptions;
  readonly #now: () => number;
  readonly #lifetime: Lifetime;
  readonly #replication: Replication;
  readonly #enrolment: Enrolment;
  readonly #heartbeats: Heartbeats;
  readonly #silence: SilenceWatch;

  constructor(options: RegistryOptions) {
    const { sql, bus, log, isAttested, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    const waits = new Waits();
    const directory = new Directory({ now, onChange: () => waits.check() });
    this.directory = directory;
    this.discovery = new Discovery(directory, waits, isAttested);
    this.#replication = replicateAgents({ sql, bus, directory, log });
    this.#enrolment = new Enrolment({ sql, onStored: (rows) => this.#tellRows(rows) });
    this.#heartbeats = new Heartbeats({ sql, onStored: (states) => this.#tellStates(states) });
    this.#silence = new SilenceWatch({
      sql,
      directory,
      now,
      keptOfflineMs,
      onChanged: (states) => this.#tellStates(states),
      onRemoved: (removals) => this.#replication.tell({ removals }),
    });
    this.#lifetime = new Lifetime(log);
    this.#lifetime.own('the replication of agents', this.#replication);
    this.#lifetime.own('registrations', this.#enrolment);
    this.#lifetime.own('heartbeats', this.#heartbeats);
    this.#lifetime.own('the watch for silent agents', this.#silence);
    this.#lifetime.defer('waiting queries', () => waits[Symbol.dispose]());
  }

  /** Resolves when the directory holds what the table does; from then on silence is noticed. */
  async start(): Promise<void> {
    await this.#replication.start();
    const timer = setInterval(() => {
      this.checkSilence().catch((err: unknown) => {
        this.#options.log.warn({ err }, 'silent agents could not be looked for');
      });
    }, checkMs).unref();
    this.#lifetime.defer('the timer of silence', () => clearInterval(timer));
  }

  /** Resolves once the agent is stored; it takes the place of the same owner's of that id. */
  async register(ownerId: string, request: RegistrationRequest): Promise<AgentRow> {
    const { egress, heartbeatInterval = 30 } = this.#options;
    if (request.agentId !== undefined) this.#refuseTaken(request.agentId, ownerId);
    const registration = await readRegistration(request, {
      egress,
      heartbeatInterval,
      pinnedKeys: async (agentId) => (await this.seek(agentId))?.cardKeys,
    });
    const { agentId } = registration;
    this.#refuseTaken(agentId, ownerId);
    await this.#checkKey({ agentId, ownerId }, request);
    return this.#enrolment.enrol({
      ...registration,
      ownerId,
      registrationId: newId('reg'),
      atMs: this.#now(),
    });
  }

  /** The agent; `agent_not_found` when there is none. */
  async get(agentId: string): Promise<AgentRecord> {
    const agent = await this.seek(agentId);
    if (agent) return agent;
    throw agentNotFound(agentId);
  }

  /** The agent, if there is one; what another replica stored a moment ago is read from the table. */
  async seek(agentId: string): Promise<AgentRecord | undefined> {
    const known = this.directory.find(agentId);
    if (known) return known;
    const row = await readAgent(this.#options.sql, agentId);
    if (row) this.directory.put(row);
    return this.directory.find(agentId);
  }

  /** Who owns an agent, as far as this replica knows. */
  ownerOf(agentId: string): string | undefined {
    return this.directory.find(agentId)?.ownerId;
  }

  /** Notes a sign of life; refuses agents that are offline: they must register again. */
  async heartbeat(
    owner: AgentOwner,
    agentId: string,
    report: BeatReport,
  ): Promise<AgentState & { readonly heartbeatInterval: number }> {
    const agent = await this.#owned(owner.subject, agentId);
    if (report.epoch !== undefined && report.epoch < agent.epoch) throw replaced(agentId);
    const { load, status } = report;
    const state = await this.#heartbeats.beat({ agentId, atMs: this.#now(), load, status });
    if (!state) throw agentOffline(agentId);
    return { ...state, heartbeatInterval: agent.heartbeatInterval };
  }

  /** Gives an agent the key of its attestations, in the place of any before. */
  async setKey(
    owner: AgentOwner,
    agentId: string,
    key: { readonly publicKey: string; readonly keyProof: KeyProof },
  ): Promise<AgentRow> {
    await this.#owned(owner.subject, agentId);
    await this.#checkKey({ agentId, ownerId: owner.subject }, key);
    const { publicKey } = key;
    const row = await updatePublicKey(this.#options.sql, {
      agentId,
      ownerId: owner.subject,
      publicKey,
    });
    if (!row) throw agentNotFound(agentId);
    this.#replication.tell({ rows: [row] });
    return row;
  }

  /**
   * Removes an agent; resolves once it is gone from the table. With an epoch only while nobody has taken
   * the place of that registration.
   */
  async deregister(
    owner: AgentOwner,
    agentId: string,
    { epoch }: Pick<BeatReport, 'epoch'> = {},
  ): Promise<void> {
    const agent = owner.isAdministrator
      ? await this.get(agentId)
      : await this.#owned(owner.subject, agentId);
    if (epoch !== undefined && epoch < agent.epoch) throw replaced(agentId);
    const removal = await deleteAgent(this.#options.sql, agent.registrationId, this.#now());
    if (!removal) throw agentNotFound(agentId);
    this.#replication.tell({ removals: [removal] });
    this.#options.activity.tell('agent-deregistered', agentId, {});
  }

  /** Looks for silent agents now, after the beats that have come. */
  async checkSilence(): Promise<void> {
    await this.#heartbeats.flush();
    await this.#silence.check();
    await this.#replication.catchUp();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#lifetime[Symbol.asyncDispose]();
  }

  async #owned(subject: string, agentId: string): Promise<AgentRecord> {
    const agent = await this.get(agentId);
    if (agent.ownerId === subject) return agent;
    throw new Fault('forbidden', 'only the owner of an agent may do this', {
      reason: 'not_agent_owner',
      detail: { agentId },
    });
  }

  #refuseTaken(agentId: string, ownerId: string): void {
    const known = this.directory.find(agentId);
    if (known && known.ownerId !== ownerId) throw agentIdTaken(agentId);
    const { agentsMax = 100_000 } = this.#options;
    if (known || this.directory.size < agentsMax) return;
    throw new Fault('exhausted', 'the mesh has as many agents as it may', { retryAfter: 60 });
  }

  async #checkKey(
    { agentId, ownerId }: Pick<AgentRow, 'agentId' | 'ownerId'>,
    { publicKey, keyProof }: Pick<RegistrationRequest, 'publicKey' | 'keyProof'>,
  ): Promise<void> {
    if (publicKey === undefined) return;
    const { checkKeyProof, sql } = this.#options;
    if (keyProof && (await checkKeyProof(agentId, publicKey, keyProof))) {
      const { commitment } = keyProof;
      // A proof that was seen before shows nothing of who sends it now.
      if (await claimKeyProof(sql, { commitment, agentId, ownerId, publicKey })) return;
    }
    throw new Fault('invalid', 'keyProof does not show that you hold publicKey', {
      reason: 'key_proof_invalid',
      detail: { agentId },
    });
  }

  #tellRows(rows: readonly AgentRow[]): void {
    this.#replication.tell({ rows });
    for (const { agentId, registrationId, capabilities, status } of rows) {
      const data = { registrationId, capabilities, status };
      this.#options.activity.tell('agent-registered', agentId, data);
    }
  }

  #tellStates(states: readonly AgentState[]): void {
    if (states.length === 0) return;
    const before = new Map(
      states.map(({ agentId }) => [agentId, this.directory.find(agentId)?.status]),
    );
    this.#replication.tell({ states });
    for (const { agentId, status } of states) {
      const previous = before.get(agentId);
      if (previous === status) continue;
      this.#options.activity.tell('agent-status', agentId, { status, previous });
    }
  }
}

/** The refusal of an id that no agent has. */
export function agentNotFound(agentId: string): Fault {
  return new Fault('not_found', `there is no agent ${agentId}`, {
    reason: 'agent_not_found',
    detail: { agentId },
  });
}

function agentOffline(agentId: string): Fault {
  return new Fault('conflict', 'this agent is offline: it must register again', {
    reason: 'agent_offline',
    detail: { agentId },
  });
}

function replaced(agentId: string): Fault {
  return new Fault('conflict', 'this agent was registered again since: its place is taken', {
    reason: 'agent_replaced',
    detail: { agentId },
  });
}
