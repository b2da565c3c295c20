import { asciiJson } from '../../kit/answers/written-json.ts';
import { agentStatuses, type Agent, type AgentEndpoints, type AgentStatus } from './agent.ts';
import type { AgentRow, AgentState, CardFacts, PublicJwk } from './agent-row.ts';

/** A failure weighs half as much after this long. */
const failureHalfLifeMs = 30_000;
/** How much a newer call counts against all before it. */
const newerShare = 0.2;

/** An agent in memory; it changes in place, so that the index need not look for it. */
export class AgentRecord implements Agent {
  // What a discovery reads of one agent after the other stands first, so that it lies together in memory.
  #reportedLoad: number | null;
  #occupiedShare = 0;
  #failures = 0;
  #failedAtMs = 0;
  #json: string | undefined;
  readonly agentId: string;
  readonly capabilitySet: ReadonlySet<string>;
  readonly row: AgentRow;
  /** As its metadata say. */
  readonly region: string | undefined;
  /** In seconds; beside the row, for all agents are looked through for it again and again. */
  readonly heartbeatInterval: number;
  status: AgentStatus;
  revision: number;
  lastSeenMs: number;
  publicKey: string | undefined;

  constructor(row: AgentRow) {
    this.row = row;
    this.agentId = row.agentId;
    this.capabilitySet = new Set(row.capabilities);
    const { region } = row.metadata;
    this.region = typeof region === 'string' ? region : undefined;
    this.heartbeatInterval = row.heartbeatInterval;
    this.status = row.status;
    this.revision = row.revision;
    this.lastSeenMs = row.lastSeenMs;
    this.publicKey = row.publicKey ?? undefined;
    this.#reportedLoad = row.load;
  }

  get registrationId(): string {
    return this.row.registrationId;
  }

  get ownerId(): string {
    return this.row.ownerId;
  }

  get epoch(): number {
    return this.row.epoch;
  }

  get capabilities(): readonly string[] {
    return this.row.capabilities;
  }

  get metadata(): Readonly<Record<string, unknown>> {
    return this.row.metadata;
  }

  get endpoints(): AgentEndpoints {
    return this.row.endpoints;
  }

  get isIdempotent(): boolean {
    return this.row.isIdempotent;
  }

  get registeredAtMs(): number {
    return this.row.registeredAtMs;
  }

  get voteKey(): string | undefined {
    return this.row.voteKey ?? undefined;
  }

  get cardKeys(): readonly PublicJwk[] | undefined {
    return this.row.cardKeys ?? undefined;
  }

  get card(): CardFacts | undefined {
    return this.row.card ?? undefined;
  }

  get load(): number {
    return this.#reportedLoad ?? this.#occupiedShare;
  }

  /** What agents are compared by: the load, and what failed lately, which fades with time. */
  score(nowMs: number): number {
    if (this.#failures === 0) return this.load;
    return this.load + this.#failures * 0.5 ** ((nowMs - this.#failedAtMs) / failureHalfLifeMs);
  }

  /** The agent as discovery tells it, written once for every change. */
  get json(): string {
    this.#json ??= asciiJson({
      agentId: this.agentId,
      capabilities: this.capabilities,
      endpoints: this.endpoints,
      load: this.load,
      status: this.status,
      ...(this.region === undefined ? {} : { region: this.region }),
    });
    return this.#json;
  }

  /** Takes a newer state over; false when it is none. */
  apply(state: AgentState): boolean {
    if (state.revision <= this.revision || state.epoch !== this.epoch) return false;
    this.revision = state.revision;
    this.lastSeenMs = state.lastSeenMs;
    this.status = state.status;
    this.publicKey = state.publicKey ?? this.publicKey;
    this.#reportedLoad = state.load;
    this.#json = undefined;
    return true;
  }

  observe(isFailure: boolean, nowMs: number): void {
    const before = this.score(nowMs) - this.load;
    this.#failures = isFailure ? before + (1 - before) * newerShare : before * (1 - newerShare);
    this.#failedAtMs = nowMs;
    if (this.#failures < 0.001) this.#failures = 0;
  }

  /** Notes which share of the tasks that it does at a time this process has it do. */
  occupy(share: number): void {
    this.#occupiedShare = round(share);
    if (this.#reportedLoad === null) this.#json = undefined;
  }

  /** The row as it is by now. */
  current(): AgentRow {
    const { revision, status, lastSeenMs, publicKey = null } = this;
    return { ...this.row, revision, status, lastSeenMs, publicKey, load: this.#reportedLoad };
  }

  /** Takes over what was observed of the same agent before it registered again. */
  inherit(before: AgentRecord): void {
    this.#occupiedShare = before.#occupiedShare;
    this.#failures = before.#failures;
    this.#failedAtMs = before.#failedAtMs;
  }
}

/** The statuses in the order in which agents are preferred. */
export const statusRanks: Readonly<Record<AgentStatus, number>> = Object.fromEntries(
  agentStatuses.map((status, rank) => [status, rank]),
) as Record<AgentStatus, number>;

function round(load: number): number {
  return Math.round(load * 100) / 100;
}
