import { Fault } from '../../kit/errors.ts';
import type { RuntimeEnd } from '../runtimes/runtime.ts';
import { failureReasons, type Agent, type AgentFailure, type FailureReason } from './agent.ts';
import { formatMemory } from '../quantities.ts';

const linesTold = 5;

/** Why a program that nobody stopped is no longer there. */
export function describeEnd(
  agent: Agent,
  { reason, exitCode, signal }: RuntimeEnd,
  tail: readonly string[],
): AgentFailure {
  const sentence = sentenceOf(agent, reason) ?? `it ended ${wayOf({ exitCode, signal })}`;
  return { reason: reason ?? 'exited', message: withTail(sentence, tail), atMs: Date.now() };
}

/** The same for what was thrown while it was started. */
export function describeFault(error: unknown, tail: readonly string[]): AgentFailure {
  const { code, message, reason } = Fault.from(error);
  const sentence = code === 'internal' ? 'the runtime could not start it' : message;
  const isKnown = isReason(reason);
  return {
    reason: isKnown ? reason : 'start_failed',
    message: isKnown && reason !== 'start_timeout' ? sentence : withTail(sentence, tail),
    atMs: Date.now(),
  };
}

/** A program that is no longer there, or no longer shows itself. */
export function lost(message: string): AgentFailure {
  return { reason: 'lost', message, atMs: Date.now() };
}

/** A program that ended before the mesh had heard it. */
export function endedEarly(failure: AgentFailure): Fault {
  return new Fault('upstream', failure.message, { reason: failure.reason });
}

/** What a spawn is refused with; a Fault of the runtime's own keeps its code. */
export function spawnFault(agentId: string, failure: AgentFailure, cause: unknown): Fault {
  const { reason, message } = failure;
  const code = cause instanceof Fault && cause.code !== 'internal' ? cause.code : 'upstream';
  const detail = cause instanceof Fault ? cause.detail : {};
  return new Fault(code, `the agent could not be started: ${message}`, {
    reason,
    detail: { ...detail, agentId, reason },
    cause,
  });
}

/** Whether to try again is no question of the agent: what it needs is away. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  return error.reason === 'runtime_unavailable' || error.reason === 'credential_unavailable';
}

function isReason(reason: string | undefined): reason is FailureReason {
  const known: readonly (string | undefined)[] = failureReasons;
  return known.includes(reason);
}

function sentenceOf({ resources }: Agent, reason: FailureReason | undefined): string | undefined {
  if (reason === 'out_of_memory') return `it took more than ${formatMemory(resources.memory)}`;
  if (reason === 'too_many_processes') return 'it started more processes than it may';
  if (reason === 'lost') return 'it was no longer there';
  return undefined;
}

function wayOf({ exitCode, signal }: Pick<RuntimeEnd, 'exitCode' | 'signal'>): string {
  if (exitCode !== null) return `with exit code ${exitCode}`;
  return signal === null ? 'in a way that is not known' : `by ${signal}`;
}

function withTail(sentence: string, tail: readonly string[]): string {
  if (tail.length === 0) return sentence;
  return `${sentence}; the last it printed: ${tail.slice(-linesTold).join(' ⏎ ')}`;
}
