import { Fault } from '../../kit/errors.ts';
import { hasFiniteNumbers } from '../../kit/finite-numbers.ts';
import { isStorable } from '../../kit/storable-json.ts';
import type { Proposal } from './ballot.ts';
import { membersMax } from './swarm.ts';

/** A swarm as a caller asks for it. */
export interface SwarmRequest extends Proposal {
  readonly agents: readonly string[];
  /** Raises the quorum, never lowers it. */
  readonly threshold?: number | undefined;
  /** 30 seconds when absent. */
  readonly timeoutMs?: number | undefined;
}

/** The body of a creation, over REST and gRPC alike. */
export interface SwarmBody {
  readonly name: string;
  readonly agents: readonly string[];
  readonly consensus?: ConsensusBody | undefined;
  readonly task: {
    readonly type: string;
    readonly input?: Readonly<Record<string, unknown>> | undefined;
  };
}

interface ConsensusBody {
  readonly type?: string | undefined;
  readonly threshold?: number | undefined;
  readonly timeout?: number | undefined;
}

export const consensusType = 'byzantine-fault-tolerant';

export const timeoutMsMax = 30 * 24 * 60 * 60_000;

/** What a body asks for; throws `invalid` for a kind of consensus that there is not. */
export function toSwarmRequest({ name, agents, consensus, task }: SwarmBody): SwarmRequest {
  const { type = consensusType, threshold, timeout: timeoutMs } = consensus ?? {};
  if (type !== consensusType) {
    throw badRequest(`the only consensus is ${consensusType}`, 'consensus.type');
  }
  return { name, agents, threshold, timeoutMs, task: { type: task.type, input: task.input ?? {} } };
}

/** Throws `invalid` for what no swarm can be. */
export function checkRequest({ name, task, agents, threshold, timeoutMs }: SwarmRequest): void {
  const { length } = agents;
  if (new Set(agents).size !== length) {
    throw badRequest('an agent has one vote: name it once', 'agents');
  }
  if (length === 0 || length > membersMax) {
    throw badRequest(`a swarm has 1 to ${membersMax} members`, 'agents');
  }
  if (!isStorable(JSON.stringify([name, task]))) {
    throw badRequest('its name or task holds U+0000 or half a character', 'task');
  }
  if (!hasFiniteNumbers(task)) throw badRequest('a number in its task is too large', 'task');
  if (!isWithin(timeoutMs, timeoutMsMax)) {
    throw badRequest(`a timeout is 1 to ${timeoutMsMax} milliseconds`, 'consensus.timeout');
  }
  if (!isWithin(threshold, length)) {
    const message = `${length} members cannot reach that threshold, or it is no whole number`;
    throw badRequest(message, 'consensus.threshold');
  }
}

/** Absent, or a whole number from 1 to the most. */
function isWithin(value: number | undefined, most: number): boolean {
  return value === undefined || (Number.isInteger(value) && value >= 1 && value <= most);
}

function badRequest(message: string, param: string): Fault {
  return new Fault('invalid', message, { reason: 'validation_error', detail: { param } });
}
