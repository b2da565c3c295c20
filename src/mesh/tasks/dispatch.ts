import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import type { Agent, AgentDirectory } from '../agents/agent.ts';
import type { AgentChoice } from './agent-choice.ts';
import { CallFailure, type AgentCall, type AgentCaller } from './caller.ts';
import type { LocalAgents } from './local-agents.ts';
import type { TaskJournal } from './task-journal.ts';
import type { TaskRun } from './task-run.ts';
import { untilAborted } from './abortable-work.ts';

/** The ways to reach agents. */
export interface Callers {
  readonly local: LocalAgents;
  readonly rest: AgentCaller;
  readonly a2a: AgentCaller;
  /** Absent where this process has no certificate to call with. */
  readonly grpc?: AgentCaller | undefined;
  readonly inbox: AgentCaller;
}

export interface DispatchOptions {
  readonly choice: AgentChoice;
  readonly callers: Callers;
  readonly directory: Pick<AgentDirectory, 'observe'>;
  readonly journal: Pick<TaskJournal, 'begin'>;
}

const attemptsMax = 3;
const backoffMs = 100;
const backoffMsMax = 5_000;

/** Has a run done by one agent, or by another where repeating is safe. */
export class Dispatch {
  readonly #options: DispatchOptions;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** Resolves with the result; rejects with a Fault, a CallFailure, TaskTakenOver or the reason of the abort. */
  async execute(run: TaskRun, traceparent: string): Promise<unknown> {
    const tried = new Set<string>();
    let last: CallFailure | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const agent = this.#options.choice.choose(run.target, tried);
      if (!agent) throw last ?? new Fault('unavailable', 'no agent is left to ask');
      run.assign(agent);
      try {
        return await this.#attempt(run, agent, traceparent);
      } catch (error) {
        if (!isRepeatable(error, agent) || attempt >= attemptsMax) throw error;
        last = error;
        tried.add(agent.agentId);
        // Another agent is asked at once, the same one after a while.
        if ('agentId' in run.target) await backOff(run, error, attempt);
      }
    }
  }

  async #attempt(run: TaskRun, agent: Agent, traceparent: string): Promise<unknown> {
    const { task, signal, askedBy, createdAtMs, deadlineAtMs } = run;
    const noteFinished = (atMs: number) => {
      run.finishedAtMs = atMs;
    };
    const times = { createdAtMs, deadlineAtMs, noteFinished };
    const call = { agent, task, askedBy, traceparent, ...times, signal };
    const callers = this.#callersOf(agent);
    // The inbox is a queue itself, and its agents say what they can do by what they take.
    run.isInbox = callers[0] === this.#options.callers.inbox;
    if (run.isInbox) return this.#ask(callers, call);
    const { priority } = task;
    return this.#options.choice.inTurn(agent, { priority, signal }, async () => {
      await this.#begin(run);
      return this.#ask(callers, call);
    });
  }

  /** Nobody else asks for it from now on. */
  async #begin(run: TaskRun): Promise<void> {
    run.signal.throwIfAborted();
    if (run.isDurable && !run.isBegun) await this.#options.journal.begin(run);
    // Ended meanwhile, it was not begun: its agent is not asked.
    run.signal.throwIfAborted();
    run.isBegun = true;
  }

  /** Asks in each way that the agent offers until one reaches it. */
  async #ask(callers: readonly AgentCaller[], call: AgentCall): Promise<unknown> {
    const { directory } = this.#options;
    let failure: unknown;
    for (const caller of callers) {
      try {
        const result = await untilAborted(caller.execute(call), call.signal);
        directory.observe(call.agent.agentId, { isFailure: false });
        return result;
      } catch (error) {
        if (call.signal.aborted) void caller.cancel(call);
        // Whoever gives up on an agent says nothing of it.
        if (!isCancelled(call.signal)) {
          directory.observe(call.agent.agentId, { isFailure: true });
        }
        failure ??= error;
        if (call.signal.aborted || !isUnreached(error)) throw error;
      }
    }
    throw failure;
  }

  #callersOf({ agentId, endpoints }: Agent): readonly AgentCaller[] {
    const { local, rest, a2a, grpc, inbox } = this.#options.callers;
    if (local.has(agentId)) return [local];
    const callers = [
      ...(endpoints.rest === undefined ? [] : [rest]),
      ...(endpoints.grpc === undefined || !grpc ? [] : [grpc]),
      ...(endpoints.a2a === undefined ? [] : [a2a]),
    ];
    return callers.length === 0 ? [inbox] : callers;
  }
}

function isRepeatable(error: unknown, agent: Agent): error is CallFailure {
  if (!(error instanceof CallFailure)) return false;
  const { progress } = error;
  return progress === 'not-started' || (progress === 'unknown' && agent.isIdempotent);
}

function isUnreached(error: unknown): boolean {
  return error instanceof CallFailure && error.progress === 'not-started';
}

function isCancelled({ reason }: AbortSignal): boolean {
  return reason instanceof Fault && reason.code === 'cancelled';
}

/** Waits as long as the agent wishes; throws the failure when that is too long. */
async function backOff(run: TaskRun, failure: CallFailure, attempt: number): Promise<void> {
  const { retryAfter, reason } = failure.fault;
  if (reason === 'egress_blocked') throw failure;
  const ms = retryAfter === undefined ? backoffMs * 2 ** (attempt - 1) : retryAfter * 1_000;
  if (ms > backoffMsMax || Date.now() + ms >= run.deadlineAtMs) throw failure;
  await sleep(ms, undefined, { signal: run.signal }).catch(() => run.signal.throwIfAborted());
}
