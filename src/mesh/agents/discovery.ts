import type { AgentStatus } from './agent.ts';
import type { AgentRecord } from './agent-record.ts';
import type { Found, Wanted } from './capability-index.ts';
import type { Directory } from './directory.ts';
import type { Waits } from './waits.ts';

/** Whether an attestation of this capability of the agent holds now. */
export type IsAttested = (agentId: string, capability: string) => boolean;

export interface DiscoveryQuery {
  readonly capabilities: readonly string[];
  readonly filters?:
    | {
        readonly region?: string | undefined;
        readonly status?: AgentStatus | undefined;
        readonly attested?: boolean | undefined;
      }
    | undefined;
  /** 100 when absent. */
  readonly limit?: number | undefined;
}

/** How a query waits: until the index has gone beyond `index`, at most `waitMs`. */
export interface Waiting {
  readonly index: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface Discovered extends Found {
  /** What a next query waits behind. */
  readonly index: number;
}

const limitDefault = 100;

/** Finds agents that can do all that is asked for. */
export class Discovery {
  readonly #directory: Directory;
  readonly #waits: Waits;
  readonly #isAttested: IsAttested;

  constructor(directory: Directory, waits: Waits, isAttested: IsAttested) {
    this.#directory = directory;
    this.#waits = waits;
    this.#isAttested = isAttested;
  }

  /** The answer at once. */
  discover({ capabilities, filters = {}, limit = limitDefault }: DiscoveryQuery): Discovered {
    const { region, status, attested } = filters;
    const wanted: Wanted = {
      capabilities,
      region,
      status,
      holds: attested ? (agent) => this.#hasAttested(agent, capabilities) : undefined,
    };
    // First, so that a change meanwhile is not missed by who waits behind it.
    const index = this.#directory.indexOf(capabilities);
    const { agents, totalFound } = this.#directory.discover(wanted, limit);
    return { agents, totalFound, index };
  }

  /** The answer once it may be another than that behind `index`, or the time is up. */
  async await(query: DiscoveryQuery, { index, waitMs, signal }: Waiting): Promise<Discovered> {
    const isOver = () => this.#directory.indexOf(query.capabilities) > index;
    await this.#waits.wait(isOver, waitMs, signal);
    return this.discover(query);
  }

  /** Each capability that is asked for; when none is, any that the agent has. */
  #hasAttested(agent: AgentRecord, capabilities: readonly string[]): boolean {
    const isAttested = (capability: string) => this.#isAttested(agent.agentId, capability);
    if (capabilities.length === 0) return agent.capabilities.some(isAttested);
    return capabilities.every(isAttested);
  }
}
